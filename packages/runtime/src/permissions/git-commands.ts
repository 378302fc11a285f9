import { readLooking, rowOfLooks } from "./looking-options.ts";
import type { Looking } from "./read-only-commands.ts";
import { exactWord, isPlain, type ShellWord, unknownWord } from "./shell-words.ts";

type Words = readonly ShellWord[];

export type GitCall = {
  /** Options before the subcommand. */
  readonly globals: Words;
  readonly folders: Words;
  /** Where files are when git is not in there already. */
  readonly workTree: ShellWord | undefined;
  readonly subcommand: string;
  readonly rest: Words;
};

/** Undefined when the subcommand cannot be told. `words` come after `git`. */
export function splitGit(words: Words): GitCall | undefined {
  const globals: ShellWord[] = [];
  const folders: ShellWord[] = [];
  let workTree: ShellWord | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!isPlain(word)) return undefined;
    if (!word.text.startsWith("-")) return { globals, folders, workTree, subcommand: word.text, rest: words.slice(at + 1) };
    if (word.text === "-C") {
      const folder = words[++at];
      if (folder) folders.push(folder);
      continue;
    }
    globals.push(word);
    if (word.text === "--work-tree") workTree = words[at + 1];
    if (word.text.startsWith("--work-tree=")) workTree = { ...word, text: word.text.slice("--work-tree=".length) };
    if (/^(?:-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path|--super-prefix)$/.test(word.text)) at++;
  }
  return { globals, folders, workTree, subcommand: "", rest: [] };
}

/** What git opens for a word when `-C` has led it to these folders, each from the one before. */
export function fromFolders(folders: Words, word: ShellWord): ShellWord {
  return folders.reduceRight((path, folder) => fromFolder(folder, path), word);
}

/** As the kernel goes, name by name: git does not shorten `link/..`. Names that were found in one folder tell nothing in another. */
function fromFolder(folder: ShellWord, word: ShellWord): ShellWord {
  if (word.kind !== "open" && (word.tilde || word.text === "" || word.text.startsWith("/"))) return word;
  if (folder.kind !== "exact" || folder.text === "" || word.kind !== "exact") return { ...unknownWord, splits: word.splits };
  return { ...word, text: `${folder.text}/${word.text}`, tilde: folder.tilde };
}

const diffOptions =
  "-puswbMCBRzaW -U: -S: -G: --stat? --numstat --shortstat --name-only --name-status --summary --cached --staged --merge-base --patch --no-patch " +
  "--raw --minimal --patience --histogram --diff-algorithm: --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines " +
  "--diff-filter: --find-renames? --find-copies? --relative? --exit-code --quiet --no-ext-diff --no-textconv --no-renames --full-index --binary " +
  "--text --compact-summary --dirstat? --color? --no-color --word-diff? --color-words? --unified: --check --function-context --pickaxe-regex " +
  "--abbrev? --no-prefix --no-stat --stat-width: --stat-count:";
const logOptions =
  `${diffOptions} -igEFPcm -n: -L: -# --oneline --graph --all --decorate? --no-decorate --format: --pretty? --abbrev-commit --no-abbrev-commit --since: --until: ` +
  "--after: --before: --author: --committer: --grep: --no-merges --merges --first-parent --reverse --follow --topo-order --date-order " +
  "--author-date-order --date: --max-count: --skip: --tags --branches? --remotes? --left-right --cherry-pick --cherry-mark --cherry " +
  "--left-only --right-only --source --no-walk --full-history --simplify-merges --parents --children --boundary --invert-grep --all-match " +
  "--regexp-ignore-case --numbered --no-notes --no-mailmap --use-mailmap --walk-reflogs --count --not --max-parents: --min-parents: --objects --timestamp --show-pulls --cc";

/**
 * Subcommands that only look, with their harmless options; `none` take no operands, `one` no more than one, `list` only with an option that says to list.
 * Not here although it looks: what compares the files of submodules in a way that cannot be turned off (`describe --dirty`,
 * `diff --submodule=diff`): git would start itself in them, with their configuration.
 */
const looking: Readonly<Record<string, readonly [options: string, operands: "paths" | "one" | "none" | "list" | "remote"]>> = {
  status: [
    "-sbuvz --short --branch --porcelain? --long --untracked-files? --ignored? --ahead-behind --no-ahead-behind --show-stash --renames",
    "paths",
  ],
  diff: [`${diffOptions} --no-index`, "paths"],
  log: [logOptions, "paths"],
  show: [logOptions, "paths"],
  shortlog: ["-nsec --numbered --summary --email --since: --until: --all --no-merges --group:", "paths"],
  "rev-list": [logOptions, "paths"],
  "diff-tree": [`${diffOptions} -rtm --no-commit-id --root --name-only`, "paths"],
  blame: [
    "-wMCesltfnpc -L: --date: --porcelain --line-porcelain --show-email --since: --root --abbrev: --show-name --show-number",
    "paths",
  ],
  annotate: ["-L: -w", "paths"],
  "ls-files": [
    "-cdmosuztvkf -x: --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude-standard --full-name --error-unmatch --eol --exclude: --deduplicate",
    "paths",
  ],
  "ls-tree": ["-rdtlz --name-only --name-status --full-name --full-tree --long --abbrev?", "paths"],
  "rev-parse": [
    "-q --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --is-inside-work-tree --is-bare-repository --abbrev-ref? --short? --verify --quiet --symbolic --symbolic-full-name --all --branches? --tags? --show-superproject-working-tree --absolute-git-dir --is-inside-git-dir --is-shallow-repository --git-path:",
    "paths",
  ],
  "cat-file": ["-tspe", "paths"],
  describe: ["--tags --all --long --always --abbrev: --exact-match --match: --first-parent --contains --candidates:", "paths"],
  "name-rev": ["--name-only --tags --always --refs:", "paths"],
  "merge-base": ["-a --all --is-ancestor --octopus --independent --fork-point", "paths"],
  "show-ref": ["-hdsq --head --heads --tags --dereference --hash? --verify --quiet --abbrev?", "paths"],
  "for-each-ref": ["--format: --sort: --count: --contains: --no-contains: --merged: --no-merged: --points-at:", "paths"],
  "count-objects": ["-vH", "none"],
  "check-ignore": ["-qvzn --no-index --quiet --verbose", "paths"],
  "check-attr": ["-a --all", "paths"],
  grep: [
    "-inwlLchHvFEGPaIrqozW -e: -A: -B: -C: -m: -# --line-number --ignore-case --word-regexp --files-with-matches --name-only --count --fixed-strings " +
      "--extended-regexp --perl-regexp --cached --untracked --recursive --heading --break --show-function --all-match --and --or --not --max-depth: --column",
    "paths",
  ],
  branch: [
    "-arvlq --all --remotes --list --verbose --show-current --contains? --no-contains? --merged? --no-merged? --sort: --format: --points-at: --column? --no-column --ignore-case",
    "list",
  ],
  tag: ["-ln --list --contains? --no-contains? --merged? --no-merged? --sort: --format: --points-at: --column?", "list"],
  remote: ["-v --verbose", "none"],
  stash: [`${logOptions} --include-untracked --only-untracked`, "list"],
  reflog: [logOptions, "none"],
  worktree: ["-vz --porcelain --verbose", "list"],
  submodule: ["--cached", "list"],
  config: [
    "-lz --get: --get-all: --get-regexp: --list --show-origin --show-scope --name-only --global --local --system --type: --bool --int",
    "none",
  ],
  cherry: ["-v --abbrev?", "paths"],
  "symbolic-ref": ["-q --quiet --short --recurse --no-recurse", "one"],
  var: ["-l", "paths"],
  version: ["--build-options", "none"],
  "ls-remote": ["-hqt --heads --tags --branches --refs --quiet --symref --exit-code --sort: --get-url", "remote"],
};
const lookers = new Map(Object.entries(looking).map(([name, [looks, kind]]) => [name, { row: rowOfLooks(looks), kind }]));

/** `git` that only looks. A repository's own configuration can make even `git status` run programs: that takes a git that does not obey it. */
export function readGit(words: Words): Looking | undefined {
  const at = words.findIndex(({ commits }) => commits);
  if (at === -1) return readWritten(words);
  // However many there are, and whatever stands behind them is taken for then.
  const [none, one, more] = [[], [head], [head, head]].map((commits) =>
    readWritten([...words.slice(0, at), ...commits, ...words.slice(at + 1)]),
  );
  return one && more && !one.follows ? none : undefined;
}

const head = exactWord("HEAD");

function readWritten(words: Words): Looking | undefined {
  const call = splitGit(words);
  if (!call) return undefined;
  if (!call.globals.every((word) => /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--version)$/.test(word.text)))
    return undefined;
  const [repository = exactWord("."), ...more] = call.folders;
  if (more.length > 0) return undefined; // each starts at the one before
  const done = (operands: Words): Looking => ({
    reads: [repository, ...operands.map((word) => fromFolders(call.folders, word))],
    writes: [],
    repository,
  });
  if (call.subcommand === "") return call.globals.some((word) => word.text === "--version") ? done([]) : undefined;
  const looker = lookers.get(call.subcommand);
  const options = looker && readLooking(call.rest, looker.row);
  if (!options) return undefined;
  const { kind } = looker;
  const { operands, given } = options;
  if (kind === "paths") return opensPaths(call.subcommand, given) ? { ...done(operands), follows: true } : done(operands);
  if (kind === "one") return operands.length === 1 && isPlain(operands[0]) ? done([]) : undefined;
  if (kind === "remote") return operands.every(isPlain) ? { ...done([]), network: true } : undefined; // no path: only http is open
  const shows = showingActions[call.subcommand];
  if (shows !== undefined && operands[0]?.text === shows && operands.every(isPlain)) return done([]);
  if (kind === "none") return operands.length === 0 && isListing(call.subcommand, given) ? done([]) : readsKey(call, operands);
  const actions = listingActions[call.subcommand];
  if (actions) {
    const [action] = call.rest;
    if (!action) return call.subcommand === "submodule" ? done([]) : undefined;
    return isPlain(action) && actions.includes(action.text) ? done([]) : undefined;
  }
  if (operands.length === 0) return done([]);
  const lists = ["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged"].some((option) => given.has(option));
  return lists ? done(operands) : undefined;

  /** `git config user.name`. */
  function readsKey({ subcommand }: GitCall, [key, ...others]: Words): Looking | undefined {
    if (subcommand === "remote") return isPlain(key) && key.text === "show" && others.length === 0 ? done([]) : undefined;
    if (subcommand === "config" && isPlain(key) && key.text === "list") return others.length === 0 ? done([]) : undefined;
    if (subcommand === "config" && isPlain(key) && key.text === "get" && others.length === 1)
      return isKey(others[0]) ? done([]) : undefined;
    return subcommand === "config" && isKey(key) && others.length === 0 ? done([]) : undefined;
  }
}

/** These open what they are told to, in linked folders too; others look for it in the index or the history, or ask whether it is there. */
function opensPaths(subcommand: string, given: ReadonlySet<string>): boolean {
  return /^(?:blame|annotate)$/.test(subcommand) || (subcommand === "diff" && given.has("--no-index"));
}

function isKey(word: ShellWord | undefined): boolean {
  return isPlain(word) && /^[A-Za-z][\w-]*\.(?:.+\.)?[A-Za-z][\w-]*$/.test(word.text);
}

/** By what follows them, others only look. */
const showingActions: Readonly<Record<string, string>> = { remote: "get-url", reflog: "show" };

const listingActions: Readonly<Record<string, readonly string[]>> = {
  stash: ["list", "show"],
  worktree: ["list"],
  submodule: ["status"],
};

function isListing(subcommand: string, given: ReadonlySet<string>): boolean {
  return subcommand !== "config" || ["-l", "--list", "--get", "--get-all", "--get-regexp"].some((option) => given.has(option));
}

/** Their value is text, whatever it holds. */
export const textOption: RegExp =
  /^(?:-m|-F|-C|-b|-B|-n|-S|-G|-t|--message|--file|--author|--date|--since|--until|--grep|--max-count)$/;
