import type { Row } from "./option-grammar.ts";

const patches = { runs: "--ext-diff --textconv", writes: "--output:", reads: "-O:" };
const patchValues =
  "-U: -S: -G: -n: -L: --format: --pretty? --since: --until: --author: --grep: --max-count: --date: --stat? --diff-filter:";
const remote = "--depth: --shallow-since: --refmap: -j: --jobs: -o: --server-option: --push-option: --filter:";
const message = "-aqsvnzo -m: -C: -c: --message: --author: --date: --cleanup: --trailer: -S? -u?";

const text: Row = { operands: "text" };
const showing: Row = { ...patches, looks: patchValues, operands: "text" };
const checking: Row = {
  lists: "--pathspec-from-file:",
  runs: "-p --patch -i --interactive",
  looks: "-b: -B: -c: -C: -s: --source: --conflict:",
  operands: "writes",
};

/** Before the subcommand. What changes where git looks and what it obeys is not covered by a rule for a subcommand. */
export const gitRow: Row = {
  ordered: true,
  looks:
    "-Pvh -C: --no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects --version --help",
  configures: "-c: --config-env: --exec-path? --git-dir: --work-tree: --namespace: --super-prefix: --attr-source: --bare",
  runs: "-p --paginate",
  operands: "text",
};

/**
 * Subcommands that a rule like `Bash(git:*)` covers, with the options it does not cover. Options that are not here do no more than the
 * subcommand itself; a subcommand that is not here may be an alias, or runs programs by its nature.
 */
export const gitRows: Readonly<Record<string, Row>> = {
  add: { lists: "--pathspec-from-file:", runs: "-e --edit -i --interactive -p --patch", operands: "reads" },
  am: { configures: "--directory:", runs: "-i --interactive", operands: "reads" },
  annotate: { reads: "--contents: -S: --ignore-revs-file:", looks: "-L: --date: --abbrev:", operands: "reads" },
  apply: { looks: "-p: -C:", configures: "--directory: --unsafe-paths", writes: "--build-fake-ancestor:", operands: "reads" },
  archive: {
    writes: "-o: --output:",
    runs: "--exec:",
    configures: "--remote: --format:",
    reads: "--add-file: --add-virtual-file:",
    looks: "-v -l --prefix:",
    operands: "text",
  },
  bisect: text,
  blame: { reads: "--contents: -S: --ignore-revs-file:", looks: "-L: --date: --abbrev:", operands: "text" },
  branch: { runs: "--edit-description", looks: "-adDmMcCrvqftl -u: --set-upstream-to: --sort: --format:", operands: "text" },
  "cat-file": { runs: "--textconv --filters", operands: "text" },
  "check-attr": text,
  "check-ignore": text,
  checkout: checking,
  "cherry-pick": { runs: "-e --edit", looks: "-nxs -m: -X: --strategy: --strategy-option: -S?", operands: "text" },
  clean: { looks: "-dfinqxX -e: --exclude: --force --dry-run --quiet --interactive", operands: "writes" },
  clone: {
    looks: `-qvnls -b: --branch: --origin: --revision: --shallow-exclude: --ref-format: ${remote}`,
    reads: "--reference: --reference-if-able:",
    configures: "-c: --config: --template: --bundle-uri:",
    writes: "--separate-git-dir:",
    runs: "-u: --upload-pack:",
    operands: "else",
  },
  commit: {
    looks: message,
    reads: "-F: --file: -t: --template:",
    lists: "--pathspec-from-file:",
    runs: "-p --patch --interactive",
    operands: "text",
  },
  config: text,
  "count-objects": text,
  describe: text,
  diff: { ...patches, looks: patchValues, operands: "reads" },
  "diff-files": showing,
  "diff-index": showing,
  "diff-tree": showing,
  fetch: { looks: remote, runs: "--upload-pack:", operands: "else" },
  "for-each-ref": text,
  "format-patch": {
    ...patches,
    writes: "-o: --output-directory: --output:",
    reads: "--signature-file: -O:",
    looks: "-n: -v: --start-number: --subject-prefix: --to: --cc: --from? --base:",
    operands: "text",
  },
  fsck: text,
  gc: { writes: "--expire-to:", operands: "text" },
  grep: {
    runs: "-O? --open-files-in-pager? --textconv",
    reads: "-f:",
    moves: "--no-index",
    looks: "-inwlLchHvFEGPaIrqozWp -e: -A: -B: -C: -m: --max-depth: --max-count: --threads:",
    operands: "text",
  },
  "hash-object": { looks: "-t: --path:", lists: "--stdin-paths", operands: "reads" },
  init: {
    looks: "-q -b: --initial-branch: --shared? --object-format:",
    configures: "--template:",
    writes: "--separate-git-dir:",
    operands: "writes",
  },
  log: showing,
  "ls-files": { reads: "-X: --exclude-from: --exclude-per-directory:", looks: "-x: --exclude:", operands: "text" },
  "ls-remote": { looks: "-o: --server-option: --sort:", runs: "--upload-pack: --exec:", operands: "else" },
  "ls-tree": text,
  merge: {
    looks: "-qvn -m: -s: -X: --strategy: --strategy-option: -S? --into-name:",
    reads: "-F: --file:",
    runs: "-e --edit",
    operands: "text",
  },
  "merge-base": text,
  "merge-tree": text,
  mv: { operands: "writes" },
  "name-rev": text,
  notes: { looks: message, reads: "-F: --file:", runs: "-e --edit", operands: "text" },
  "patch-id": text,
  prune: text,
  pull: { looks: `-s: -X: --strategy: --strategy-option: -S? ${remote}`, runs: "--upload-pack: -e --edit", operands: "else" },
  push: { looks: `-uqvfdn ${remote}`, runs: "--receive-pack: --exec:", operands: "else" },
  "range-diff": showing,
  rebase: {
    looks: "-s: -X: -C: --onto: --strategy: --strategy-option: -S?",
    runs: "-x: --exec: -i --interactive --edit-todo",
    operands: "text",
  },
  reflog: showing,
  remote: text,
  repack: { writes: "--expire-to: --filter-to:", operands: "text" },
  reset: checking,
  restore: checking,
  "rev-list": showing,
  "rev-parse": text,
  revert: { looks: "-ns -m: -X: --strategy: --strategy-option: -S?", runs: "-e --edit", operands: "text" },
  rm: { lists: "--pathspec-from-file:", operands: "writes" },
  shortlog: { ...patches, looks: "-n: --group: --format:", operands: "text" },
  show: showing,
  "show-branch": text,
  "show-ref": text,
  "sparse-checkout": text,
  stash: {
    ...patches,
    looks: `${patchValues} -akqSu -m: --message: --all --include-untracked --keep-index --staged --quiet`,
    lists: "--pathspec-from-file:",
    runs: "-p --patch --ext-diff --textconv",
    operands: "text",
  },
  status: text,
  submodule: { looks: "-qbf -j: --jobs: --depth: --branch: --filter:", reads: "--reference:", operands: "text" },
  switch: checking,
  "symbolic-ref": text,
  tag: {
    looks: "-adfslvn -m: --message: -u: --local-user: --sort: --format:",
    reads: "-F: --file:",
    runs: "-e --edit",
    operands: "text",
  },
  "verify-commit": text,
  "verify-tag": text,
  version: text,
  whatchanged: showing,
  worktree: { looks: "-b: -B: --reason: --expire:", operands: "else" },
};

const rows: ReadonlyMap<string, Row> = new Map(Object.entries(gitRows));

/** Undefined for a subcommand that no rule for git alone covers. */
export function gitRowOf(subcommand: string): Row | undefined {
  return rows.get(subcommand);
}
