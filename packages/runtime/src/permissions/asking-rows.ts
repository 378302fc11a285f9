import type { Row } from "./option-grammar.ts";

const local = (looks: string, operands: Row["operands"]): Row => ({ looks, operands });
const asking = (looks: string, operands: Row["operands"] = "text"): Row => ({ network: true, looks, operands });
const group = (commands: Readonly<Record<string, Row>>): Row => ({ operands: "else", commands });

const shown = "-q: -t: -R: --json: --jq: --template: --repo:";
const listed = `${shown} -L: -s: -A: -a: -l: -S: -B: -H: --limit: --state: --author: --assignee: --label: --search: --base: --head: --app: --milestone:`;

/** `gh` that shows: nothing that opens a browser, changes, downloads, or names another host. */
const gh: Readonly<Record<string, Row>> = {
  pr: group({
    view: asking(`${shown} -c --comments`),
    list: asking(`${listed} -d --draft`),
    diff: asking("-R: --repo: --color: --name-only --patch"),
    checks: asking(`${shown} --required`),
    status: asking(`${shown} -c --conflict-status`),
  }),
  issue: group({ view: asking(`${shown} -c --comments`), list: asking(listed), status: asking(shown) }),
  run: group({
    view: asking(`${shown} -j: -a: -v --job: --attempt: --log --log-failed --verbose --exit-status`),
    list: asking(`${listed} -w: -b: -u: -e: -c: --workflow: --branch: --user: --event: --status: --commit: --created: --all`),
  }),
  repo: group({
    view: asking("-q: -t: -b: --json: --jq: --template: --branch:"),
    list: asking(`${listed} --language: --topic: --visibility: --source --fork`),
  }),
  release: group({ view: asking(shown), list: asking(`${shown} -L: --limit: --exclude-drafts --exclude-pre-releases`) }),
  workflow: group({ view: asking("-R: -r: -y --repo: --ref: --yaml"), list: asking(`${shown} -a -L: --all --limit:`) }),
  label: group({ list: asking(`${shown} -L: -S: --limit: --search: --sort: --order:`) }),
  search: group({
    issues: asking(listed),
    prs: asking(listed),
    repos: asking(`${listed} --language:`),
    code: asking(`${listed} --language: --extension: --filename:`),
  }),
  auth: group({ status: asking("-h: --hostname:", "none") }),
  api: asking(
    "-q: -t: -i --jq: --template: --paginate --slurp --cache: -f: -F: --field: --raw-field: -X: --method: --silent --include",
    "else",
  ),
};

const packages: Row = {
  looks:
    "-algp --all --long --global --json --parseable --depth: --prod --production --omit: --include: --link --workspaces --package-lock-only --unicode",
  starts: true,
  allows: /^[@\w./-]+$/,
  operands: "text",
};
const place: Row = { looks: "-g --global --json", starts: true, operands: "none" };

const shownPackages = "-vql --local --user --verbose --quiet --disable-pip-version-check --exclude:";
const pip: Readonly<Record<string, Row>> = {
  list: {
    looks: `${shownPackages} -e --editable --not-required --format: --include-editable --exclude-editable`,
    starts: true,
    operands: "none",
  },
  show: {
    looks: "-fvq --files --verbose --quiet --disable-pip-version-check",
    starts: true,
    allows: /^[\w.-]+$/,
    operands: "text",
  },
  // It asks git about what is installed from a repository.
  freeze: { looks: `${shownPackages} --all --exclude-editable`, starts: true, git: true, operands: "none" },
};

const json: Row = {
  looks: "--sort-keys --no-ensure-ascii --json-lines --indent: --tab --no-indent --compact",
  operands: "reads one",
};
const isolated = group({ "json.tool": json, pip: group(pip) });
const fromFolder = (row: Row): Row => ({ ...row, modules: true });
const modules = group({
  "json.tool": fromFolder(json),
  pip: group(Object.fromEntries(Object.entries(pip).map(([name, row]) => [name, fromFolder(row)]))),
});

/** Subcommands that only look, of programs that do other things as well. */
export const lookingCommands: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  gh,
  go: {
    doc: { ...local("-all -c -cmd -short -src -u", "text"), singleDash: true },
    env: { ...local("-json -changed", "text"), singleDash: true },
  },
  docker: {
    ps: local("-aqls -f: -n: --all --quiet --latest --size --no-trunc --filter: --format: --last:", "none"),
    images: local("-aq -f: --all --quiet --no-trunc --digests --filter: --format:", "text"),
    version: local("-f: --format:", "none"),
    info: local("-f: --format:", "none"),
    compose: group({ version: local("-f: --format: --short", "none") }),
  },
  bun: { pm: group({ ls: local("--all", "none") }) },
  npm: {
    view: asking("--json", "else"),
    info: asking("--json", "else"),
    show: asking("--json", "else"),
    run: place,
    ls: packages,
    list: packages,
    explain: packages,
    why: packages,
    root: place,
    prefix: place,
    bin: place,
    config: group({
      get: { ...place, allows: /^(?!.*(?:auth|password|token|key|otp|cert|secret|user))[a-z][a-z-]*$/, operands: "text" },
    }),
    pkg: group({ get: { ...place, allows: /^[\w.@/-]+$/, operands: "text" } }),
  },
  pip,
  pip3: pip,
  python: { "-m": modules, "-I": group({ "-m": isolated }) },
  python3: { "-m": modules, "-I": group({ "-m": isolated }) },
};
