import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A folder with a repository in it that makes git run `evil`, which leaves a mark. */
export type Stage = {
  readonly folder: string;
  readonly evil: string;
  readonly git: (...words: string[]) => string;
  readonly write: (path: string, text: string) => void;
};

export type HostileRepository = {
  readonly name: string;
  readonly build: (stage: Stage) => void;
  /** The folder to look from; the top when absent. */
  readonly from?: string;
  /** To be tried first. */
  readonly forms?: readonly string[];
  /** Instead of `differentForms`. */
  readonly only?: readonly string[];
  /** A git that obeys does not run the program with these forms here: it needs a terminal, a newer git or more than looking. */
  readonly harmless?: true;
};

/** Looking, as models do it. */
export const lookingForms: readonly string[] = [
  "git status",
  "git status -s -b",
  "git status --porcelain=v2 --branch",
  "git status -vv",
  "git --no-pager status",
  "git diff",
  "git diff HEAD",
  "git diff --cached",
  "git diff --stat HEAD~1",
  "git diff --quiet",
  "git diff -w -- a.txt",
  "git log",
  "git log -p",
  "git log --oneline --graph --all",
  "git log --stat -3",
  "git log -S more",
  "git log -L 1,1:a.txt",
  "git log --follow -p a.txt",
  "git log --format='%h %G? %GS %an %(trailers) %(describe)'",
  "git show",
  "git show --stat HEAD",
  "git show HEAD:a.txt",
  "git shortlog -sn HEAD",
  "git rev-list --all --count",
  "git diff-tree -r -p HEAD",
  "git blame a.txt",
  "git annotate a.txt",
  "git grep -n more",
  "git grep --untracked more",
  "git ls-files -m -o",
  "git ls-files --eol",
  "git ls-tree -r HEAD",
  "git rev-parse --show-toplevel",
  "git cat-file -p HEAD",
  "git describe --always --tags",
  "git name-rev HEAD",
  "git merge-base HEAD HEAD",
  "git show-ref",
  "git for-each-ref --format='%(refname) %(contents:signature)'",
  "git count-objects -v",
  "git check-ignore -v a.txt",
  "git check-attr -a a.txt",
  "git branch -avv",
  "git tag -l -n",
  "git remote -v",
  "git stash list",
  "git stash show -p",
  "git config user.name",
  "git submodule status",
  "git reflog",
  "git worktree list",
  "git config --list",
  "git config --get core.bare",
  "echo a | xargs -I{} git diff HEAD",
  'echo "$(git status --short)" | wc -l',
  "find . -maxdepth 1 -name a.txt -exec git blame {} +",
  "timeout 20 git status",
  "bash -c 'git diff'",
  "(cd . && git status)",
  "for f in a.txt; do git diff -- $f; done",
];

/** One of each way to look that git has code of its own for. */
export const differentForms: readonly string[] = [
  "git status",
  "git status -vv",
  "git diff",
  "git diff HEAD",
  "git log -p",
  "git log --format='%G? %(describe)'",
  "git show",
  "git blame a.txt",
  "git grep --untracked more",
  "git ls-files -m -o",
  "git describe --always",
  "git stash show -p",
  "git submodule status",
  "echo a | xargs -I{} git diff HEAD",
  "bash -c 'git diff'",
];

/** Two commits, a change, a file that only looks changed, a tag and a stash. */
export function fillRepository({ git, write, folder }: Stage): void {
  git("init", "-q", "-b", "main", ".");
  write("a.txt", "one\n");
  write("b.bin", "x\0y\n");
  git("add", ".");
  git("commit", "-q", "-m", "first");
  write("a.txt", "one\nmore\n");
  git("commit", "-q", "-am", "second");
  git("tag", "-m", "tag", "v1");
  write("a.txt", "one\nmore\nstash\n");
  git("stash", "-q");
  write("a.txt", "one\nmore\nchanged\n");
  utimesSync(join(folder, "b.bin"), 1, 1);
}

const configured =
  (...entries: [key: string, value?: string][]): HostileRepository["build"] =>
  (stage) => {
    fillRepository(stage);
    for (const [key, value] of entries) stage.git("config", "--add", key, value ?? stage.evil);
  };

/** The driver is named by attributes that are committed, or that lie in the repository itself. */
const driven =
  (attributes: string, text: (evil: string) => string, file = ".gitattributes"): HostileRepository["build"] =>
  (stage) => {
    fillRepository(stage);
    stage.write(file, `${attributes}\n`);
    stage.write(".git/more", text(stage.evil));
    stage.git("config", "include.path", "more");
  };

const driver = (kind: string, name: string, key: string) => (evil: string) => `[${kind} "${name}"]\n\t${key} = "${evil}"\n`;

const names = ["x", "Ev.il", "a b", "ü", 'q\\"u', "$(x)", "*", "a=b", "-x", "a\\\\b", "x;y", "x'y"];

/** A bare repository below the top, as files that can be committed. */
const bare =
  (change: (at: string, stage: Stage) => void): HostileRepository["build"] =>
  (stage) => {
    fillRepository(stage);
    const at = join(stage.folder, "ebare");
    stage.git("init", "-q", "--bare", "ebare");
    stage.git("-C", "ebare", "config", "core.fsmonitor", stage.evil);
    stage.git("-C", "ebare", "config", "core.bare", "false");
    stage.git("-C", "ebare", "config", "core.worktree", "..");
    change(at, stage);
  };

/** A repository below the top that the top has as a submodule. */
export function addSubmodule(stage: Stage, configure: (git: (...words: string[]) => string) => void): void {
  fillRepository(stage);
  const inner = join(stage.folder, "sub");
  mkdirSync(inner);
  const inside = (...words: string[]): string => stage.git("-C", "sub", ...words);
  inside("init", "-q", "-b", "main");
  stage.write("sub/s.txt", "one\n");
  stage.write("sub/.gitattributes", "*.txt filter=x diff=x\n");
  inside("add", ".");
  inside("commit", "-q", "-m", "sub");
  stage.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
  stage.git("add", ".gitmodules", "sub");
  stage.git("commit", "-q", "-m", "with sub");
  stage.write("sub/s.txt", "two\n");
  configure(inside);
}

/** The repository elsewhere, and a `.git` file that says so, in some way git understands. */
const elsewhere =
  (text: (at: string) => string, name = "moved"): HostileRepository["build"] =>
  (stage) => {
    fillRepository(stage);
    stage.git("config", "core.fsmonitor", stage.evil);
    const at = join(stage.folder, name);
    renameSync(join(stage.folder, ".git"), at);
    stage.write(".git", text(at));
  };

export const hostileRepositories: readonly HostileRepository[] = [
  { name: "a monitor", build: configured(["core.fsmonitor"]) },
  { name: "a monitor given twice", build: configured(["core.fsmonitor"], ["core.fsmonitor"]) },
  { name: "a folder of hooks", build: withHook("hooks-here", ["core.hooksPath", "hooks-here"]), forms: ["git status"] },
  { name: "a hook in its place", build: withHook(".git/hooks") },
  {
    name: "hooks in its configuration",
    build: configured(["hook.x.command"], ["hook.x.event", "post-index-change"]),
    harmless: true,
  },
  { name: "an external diff", build: configured(["diff.external"]) },
  { name: "pagers", build: configured(["core.pager"], ["pager.status"], ["pager.log"], ["pager.diff"]), harmless: true },
  {
    name: "aliases",
    build: configured(["alias.status", "!touch x"], ["alias.whatchanged", "!touch x"], ["help.autocorrect", "1"]),
    harmless: true,
  },
  {
    name: "editors, helpers and proxies",
    build: configured(
      ["core.editor"],
      ["sequence.editor"],
      ["core.sshCommand"],
      ["core.askPass"],
      ["core.gitProxy"],
      ["credential.helper"],
      ["core.alternateRefsCommand"],
      ["interactive.diffFilter"],
      ["uploadpack.packObjectsHook"],
    ),
    harmless: true,
  },
  { name: "a diff driver that converts", build: driven("*.txt diff=x", driver("diff", "x", "textconv")) },
  {
    name: "a diff driver in its own attributes",
    build: driven("*.txt diff=x", driver("diff", "x", "textconv"), ".git/info/attributes"),
  },
  { name: "the driver for files without one", build: configured(["diff.default.textconv"]) },
  { name: "the driver for files without one, as a command", build: configured(["diff.default.command"]), harmless: true },
  { name: "a driver git has itself", build: driven("*.txt diff=cpp", driver("diff", "cpp", "textconv")) },
  { name: "a diff driver that is a command", build: driven("*.txt diff=x", driver("diff", "x", "command")) },
  {
    name: "a cache of conversions",
    build: driven("*.txt diff=x", (evil) => `[diff "x"]\n\ttextconv = "${evil}"\n\tcachetextconv = true\n`),
  },
  { name: "a merge driver", build: driven("*.txt merge=x", driver("merge", "x", "driver")), harmless: true },
  { name: "a filter", build: driven("*.bin filter=x", driver("filter", "x", "clean")) },
  {
    name: "a filter that is required",
    build: driven("*.bin filter=x", (evil) => `[filter "x"]\n\tclean = "${evil}"\n\trequired = true\n`),
  },
  { name: "a filter that stays", build: driven("*.bin filter=x", driver("filter", "x", "process")) },
  {
    name: "a filter in its own attributes",
    build: driven("*.bin filter=x", driver("filter", "x", "clean"), ".git/info/attributes"),
  },
  ...names.map((name): HostileRepository => {
    const plain = name.replaceAll(/\\(.)/g, "$1");
    const canBeNamed = !/\s/.test(plain);
    return {
      name: `a filter and a driver called ${plain}`,
      build: driven(
        `*.bin filter=${plain}\n*.txt diff=${plain}`,
        (evil) => driver("filter", name, "clean")(evil) + driver("diff", name, "textconv")(evil),
      ),
      only: ["git status", "git diff", "git log -p", "git blame a.txt"],
      ...(!canBeNamed && { harmless: true as const }),
    };
  }),
  { name: "a filter with an old header", build: driven("*.bin filter=x", (evil) => `[filter.X]\n\tclean = "${evil}"\n`) },
  { name: "an included file", build: included((evil) => `[core]\n\tfsmonitor = "${evil}"\n`, "include.path", "more") },
  {
    name: "a file included on a condition",
    build: included((evil) => `[core]\n\tfsmonitor = "${evil}"\n`, "includeIf.onbranch:main.path", "more"),
  },
  {
    name: "a file included by its folder",
    build: included((evil) => `[core]\n\tfsmonitor = "${evil}"\n`, "includeIf.gitdir:**/.path", "more"),
  },
  { name: "an included file that includes", build: chained },
  {
    name: "a configuration that is read from the input",
    build: fromInput,
    forms: ["git diff < evil.cfg", "cat evil.cfg | git status"],
  },
  { name: "a configuration per worktree", build: perWorktree },
  { name: "signatures to be checked", build: signed },
  { name: "a bare repository", build: bare(() => {}), from: "ebare" },
  { name: "a bare repository whose HEAD leads nowhere", build: bare(danglingHead), from: "ebare" },
  { name: "a bare repository of files", build: bare(filesForFolders), from: "ebare" },
  {
    name: "a bare repository named by an option",
    build: bare(danglingHead),
    forms: ["git -C ebare status", "cd ebare && git status", "git -C ebare log", "git -C ebare diff"],
  },
  {
    name: "a submodule with a monitor",
    build: (stage) => addSubmodule(stage, (git) => git("config", "core.fsmonitor", stage.evil)),
  },
  {
    name: "a submodule with a filter",
    build: (stage) => addSubmodule(stage, (git) => git("config", "filter.x.clean", stage.evil)),
  },
  { name: "a submodule with a converter", build: withInnerDiffs },
  { name: "a submodule nobody has listed", build: unlisted },
  {
    name: "a nested repository",
    build: (stage) => addSubmodule(stage, (git) => git("config", "core.fsmonitor", stage.evil)),
    from: "sub",
  },
  { name: "a linked worktree", build: linked, from: "tree" },
  { name: "a folder for common files", build: commonFolder },
  { name: "a relative .git file", build: elsewhere(() => "gitdir: moved\n") },
  { name: "an absolute .git file", build: elsewhere((at) => `gitdir: ${at}`) },
  { name: "a .git file with several ends of lines", build: elsewhere(() => "gitdir: moved\n\n\n") },
  { name: "a .git file with a carriage return", build: elsewhere(() => "gitdir: moved\r\n") },
  { name: "a .git file with a space at its end", build: elsewhere(() => "gitdir: moved \n", "moved ") },
  { name: "a .git file with a tab in it", build: elsewhere(() => "gitdir: mo\tved\n", "mo\tved") },
  { name: "a .git link", build: linkedFolder },
  {
    name: "objects that are only elsewhere",
    build: promised,
    forms: ["git cat-file -p HEAD^{tree}", "git log -p", "git diff HEAD~1"],
  },
  { name: "objects of another repository", build: borrowed },
  { name: "all of that at once", build: everything, only: lookingForms },
];

function withHook(folder: string, ...entries: [string, string][]): HostileRepository["build"] {
  return (stage) => {
    configured(...entries)(stage);
    mkdirSync(join(stage.folder, folder), { recursive: true });
    stage.write(`${folder}/post-index-change`, `#!/bin/sh\nexec "${stage.evil}"\n`);
    chmodSync(join(stage.folder, folder, "post-index-change"), 0o755);
    utimesSync(join(stage.folder, "b.bin"), 5, 5);
  };
}

function included(text: (evil: string) => string, key: string, value: string): HostileRepository["build"] {
  return (stage) => {
    fillRepository(stage);
    stage.write(".git/more", text(stage.evil));
    stage.git("config", key, value);
  };
}

function chained(stage: Stage): void {
  fillRepository(stage);
  stage.write("attributes", "*.bin filter=x\n");
  stage.write(
    "third",
    `[filter "x"]\n\tclean = "${stage.evil}"\n[core]\n\tattributesFile = ${join(stage.folder, "attributes")}\n`,
  );
  stage.write("second", "[include]\n\tpath = third\n");
  stage.git("config", "include.path", "../second");
}

function fromInput(stage: Stage): void {
  fillRepository(stage);
  stage.write("evil.cfg", `[filter "x"]\n\tclean = "${stage.evil}"\n`);
  stage.write(".gitattributes", "*.bin filter=x\n");
  stage.git("config", "include.path", "/dev/stdin");
}

function perWorktree(stage: Stage): void {
  fillRepository(stage);
  stage.git("config", "extensions.worktreeConfig", "true");
  stage.git("config", "--worktree", "core.fsmonitor", stage.evil);
}

function signed(stage: Stage): void {
  fillRepository(stage);
  const commit = stage
    .git("cat-file", "commit", "HEAD")
    .replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n");
  stage.write("signed", commit);
  const id = stage.git("hash-object", "-t", "commit", "-w", "signed").trim();
  stage.git("update-ref", "refs/heads/main", id);
  for (const key of ["gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program"])
    stage.git("config", key, stage.evil);
  stage.git("config", "log.showSignature", "true");
}

function danglingHead(at: string): void {
  rmSync(join(at, "HEAD"));
  symlinkSync("refs/heads/main", join(at, "HEAD"));
}

/** git only asks whether they may be executed. */
function filesForFolders(at: string): void {
  for (const name of ["objects", "refs"]) {
    rmSync(join(at, name), { recursive: true });
    writeFileSync(join(at, name), "", { mode: 0o755 });
  }
}

function withInnerDiffs(stage: Stage): void {
  addSubmodule(stage, (git) => git("config", "diff.x.textconv", stage.evil));
  stage.git("config", "diff.submodule", "diff");
  stage.git("config", "status.submoduleSummary", "true");
  stage.git("config", "submodule.recurse", "true");
}

function unlisted(stage: Stage): void {
  addSubmodule(stage, (git) => git("config", "core.fsmonitor", stage.evil));
  stage.git("rm", "-q", "-f", "--cached", ".gitmodules");
  rmSync(join(stage.folder, ".gitmodules"));
  stage.git("commit", "-q", "-m", "unlisted");
}

function linked(stage: Stage): void {
  fillRepository(stage);
  stage.git("config", "core.fsmonitor", stage.evil);
  stage.git("-c", "core.fsmonitor=false", "worktree", "add", "-q", "tree");
}

function commonFolder(stage: Stage): void {
  fillRepository(stage);
  stage.git("config", "core.fsmonitor", stage.evil);
  renameSync(join(stage.folder, ".git"), join(stage.folder, "common"));
  mkdirSync(join(stage.folder, ".git"));
  stage.write(".git/HEAD", "ref: refs/heads/main\n");
  stage.write(".git/commondir", "../common\n");
}

function linkedFolder(stage: Stage): void {
  fillRepository(stage);
  stage.git("config", "core.fsmonitor", stage.evil);
  renameSync(join(stage.folder, ".git"), join(stage.folder, "moved"));
  symlinkSync("moved", join(stage.folder, ".git"));
}

/** A partial clone: what is missing is fetched when it is needed, by whatever the address says. */
function promised(stage: Stage): void {
  fillRepository(stage);
  const tree = stage.git("rev-parse", "HEAD^{tree}").trim();
  rmSync(join(stage.folder, ".git/objects", tree.slice(0, 2), tree.slice(2)));
  stage.git("config", "extensions.partialClone", "origin");
  stage.git("config", "remote.origin.promisor", "true");
  stage.git("config", "remote.origin.url", `ext::${stage.evil}`);
  stage.git("config", "remote.origin.uploadpack", stage.evil);
  stage.git("config", "protocol.ext.allow", "always");
  stage.git("config", "protocol.allow", "always");
}

function borrowed(stage: Stage): void {
  fillRepository(stage);
  stage.git("clone", "-q", "--shared", ".", "clone");
  stage.write(".git/objects/info/alternates", `${join(stage.folder, "clone/.git/objects")}\n`);
  stage.git("config", "core.fsmonitor", stage.evil);
}

function everything(stage: Stage): void {
  withInnerDiffs(stage);
  for (const [key, value] of [
    ["core.hooksPath", "hooks-here"],
    ["help.autocorrect", "1"],
    ["log.showSignature", "true"],
  ] as const)
    stage.git("config", key, value);
  const keys = [
    "core.fsmonitor",
    "diff.external",
    "diff.default.textconv",
    "diff.x.textconv",
    "diff.x.command",
    "filter.x.clean",
    "filter.x.process",
  ];
  for (const key of [...keys, "core.pager", "pager.log", "gpg.program", "credential.helper", "core.sshCommand"])
    stage.git("config", key, stage.evil);
  stage.write(".git/info/attributes", "* filter=x\n*.txt diff=x\n");
  mkdirSync(join(stage.folder, "hooks-here"));
  stage.write("hooks-here/post-index-change", `#!/bin/sh\nexec "${stage.evil}"\n`);
  chmodSync(join(stage.folder, "hooks-here/post-index-change"), 0o755);
  utimesSync(join(stage.folder, "b.bin"), 5, 5);
}

/** Names that git's index may hold without a file, and that other programs take apart, for a pattern or for an option. */
export const oddNames: readonly ((secret: string) => string)[] = [
  (secret) => `x ${secret}`,
  (secret) => `x\t${secret}`,
  (secret) => `deep/x ${secret}`,
  (secret) => `x\n${secret}`,
  () => "--files0-from=0.txt",
  () => "x --files0-from=0.txt",
  (secret) => `"x" ${secret}`,
  (secret) => `x' '${secret}`,
  (secret) => `x\\ ${secret}`,
];

/** Nothing of it is on the disk but a list of files that an option may name. */
export function nameOddly(stage: Stage, name: string, secret: string): void {
  fillRepository(stage);
  stage.write("0.txt", `${secret}\0`);
  const blob = stage.git("hash-object", "-w", "a.txt").trim();
  stage.git("update-index", "--add", "--cacheinfo", `100644,${blob},${name}`);
}

export function stageIn(folder: string, mark: string): Stage {
  mkdirSync(folder, { recursive: true });
  const evil = join(folder, "evil.sh");
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat "$1" 2>/dev/null\nexit 0\n`, { mode: 0o755 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const identity = [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.org",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.file.allow=always",
  ];
  return {
    folder,
    evil,
    git: (...words) =>
      execFileSync("git", [...identity, ...words], { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
    write: (path, text) => writeFileSync(join(folder, path), text),
  };
}
