import { splitGit, textOption } from "./git-commands.ts";
import { gitRow, gitRowOf } from "./git-rows.ts";
import { readWords } from "./option-grammar.ts";
import type { Shown } from "./shown-files.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/**
 * What is in the history, the index and the stash is the content of files, whatever their names were. Known not to show any: subcommands
 * that tell names and numbers, those that change things without showing them, and patches of files that are written out behind `--`.
 */
export function shownByGit(words: readonly ShellWord[]): Shown {
  const call = splitGit(words);
  if (!call) return unknown("git");
  const { subcommand, rest } = call;
  const telling = rest.slice(0, dashes(rest)).filter((word, index) => {
    const previous = rest[index - 1];
    return isPlain(word) || word.splits || !isPlain(previous) || !textOption.test(previous.text);
  });
  if (copiesElsewhere(subcommand, rest)) return unknown(subcommand);
  if (tellers.has(subcommand))
    return telling.some((word) => showsContent(word, subcommand)) ? unknown(subcommand) : { type: "nothing" };
  const options = telling.filter((word) => !isPlain(word) || word.text.startsWith("-"));
  if (doers.has(subcommand)) return options.some(showsPatch) ? unknown(subcommand) : { type: "nothing" };
  if (subcommand === "cat-file")
    return options.length > 0 && options.every(({ text }) => /^-[tse]$/.test(text)) ? { type: "nothing" } : unknown(subcommand);
  if (rest.some(({ text }) => /^--no-i/.test(text))) return unknown(`${subcommand} --no-index`);
  const isQuiet =
    options.every((word) => isPlain(word) && quietOption.test(word.text)) &&
    (subcommand !== "show" || operandsOf(telling).every(isCommitOnly));
  if (subcommand === "stash") {
    const [action] = rest;
    if (isPlain(action) && action.text === "list") return isQuiet ? { type: "nothing" } : unknown("stash list");
    return isPlain(action) && stashes.test(action.text) ? { type: "nothing" } : unknown("stash");
  }
  const tells = tellingOptions.get(subcommand);
  if (tells && isQuiet && (tells === "alone" || options.some(({ text }) => summaries.test(text)))) return { type: "nothing" };
  // With `-C`, paths start elsewhere.
  return (call.folders.length === 0 ? shownPaths(subcommand, rest) : undefined) ?? unknown(subcommand);
}

/** Makes files of what is in the repository at other places than they have in the project, where no rule knows them. */
function copiesElsewhere(subcommand: string, rest: readonly ShellWord[]): boolean {
  const before = rest.slice(0, dashes(rest));
  const has = (pattern: RegExp): boolean => before.some((word) => !isPlain(word) || pattern.test(word.text));
  if (subcommand === "clone") {
    const source = readWords(gitRowOf("clone") ?? gitRow, rest).operands[0]?.word;
    return !(isPlain(source) && isAddress.test(source.text));
  }
  if (subcommand === "worktree") return has(/^add$/);
  if (subcommand === "read-tree") return has(/^--pre/);
  if (subcommand === "update-index") return has(/^--(?:cache|index-i)/);
  // A folder of a commit: its files would lie elsewhere.
  return /^(?:checkout|restore)$/.test(subcommand) && has(/^(?!-|:)[^:]+:|^(?:-s|--source=).*:/);
}

const isAddress = /^(?:(?:https?|ssh|git):\/\/|[\w.-]+@[\w.-]+:)/;

const unknown = (subcommand: string): Shown => ({
  type: "unknown",
  why: `git ${subcommand} shows what was in files, without naming them`,
});

/** The files behind `--`: only where what stands before it are names of commits and options that keep to those files. */
function shownPaths(subcommand: string, rest: readonly ShellWord[]): Shown | undefined {
  const at = dashes(rest);
  const paths = rest.slice(at + 1);
  if (!pathCommands.has(subcommand) || paths.length === 0 || !paths.every(isPath)) return undefined;
  const before = rest.slice(0, at);
  const isKnown = (word: ShellWord): boolean =>
    isPlain(word) && (word.text.startsWith("-") ? keepingOption.test(word.text) : isOwnCommit.test(word.text));
  // The first word of a search is what to look for.
  const sought = subcommand === "grep" ? before.find(isOperand) : undefined;
  const searched = before.filter((word) => word !== sought);
  return searched.every(isKnown) ? { type: "below", reads: paths, stored: true } : undefined;
}

const pathCommands = new Set(["diff", "log", "show", "grep", "blame"]);

function isOperand(word: ShellWord): boolean {
  return !word.text.startsWith("-");
}

/** No pathspec with magic, no pattern. */
function isPath(word: ShellWord): boolean {
  return isPlain(word) && /^[^:*?[\]\\]+$/.test(word.text);
}

/** `git show` of a file's content shows it whole, whatever the options say: only what git takes for commits is none. */
function isCommitOnly(word: ShellWord): boolean {
  return isPlain(word) && /^(?:HEAD|@|[\w./@-]+(?:[~^]\d*|\^\{commit\}))+$/.test(word.text);
}

/** Words that are neither options nor values of those. */
function operandsOf(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.filter((word, index) => isOperand(word) && !valued.test(`${words[index - 1]?.text}`));
}

const valued =
  /^(?:-n|--(?:format|since|until|after|before|author|committer|grep|date|max-count|skip|diff-filter|stat-width|stat-count))$/;

/** What is checked out, and what that was made from: any other name may be a file's content, or a tree in which paths are other files. */
const isOwnCommit = /^(?:HEAD|@)(?:~\d*|\^(?!\d))*(?:\.{2,3}(?:HEAD|@)(?:~\d*|\^(?!\d))*)?$/;

/** Shows more or less of the files that are named, never another one. */
const keepingOption =
  /^(?:-[puwbinlchHEFPWzsqMCa]+|-U\d+|-n?\d+|--(?:patch|unified=\d+|stat|numstat|shortstat|name-only|name-status|oneline|graph|decorate|no-decorate|abbrev-commit|reverse|first-parent|no-merges|date=[\w-]+|since=.*|until=.*|author=.*|grep=.*|format=.*|pretty=.*|max-count=\d+|word-diff(?:=\w+)?|ignore-all-space|ignore-space-change|minimal|patience|histogram|cached|staged|no-color|color=\w+|no-ext-diff|no-textconv|no-renames|line-number|ignore-case|word-regexp|fixed-strings|count|exit-code))$/s;

function dashes(words: readonly ShellWord[]): number {
  const at = words.findIndex((word) => isPlain(word) && word.text === "--");
  return at === -1 ? words.length : at;
}

const tellers = new Set(
  (
    "status ls-files ls-tree rev-parse branch tag remote describe merge-base show-ref for-each-ref name-rev count-objects check-ignore " +
    "check-attr worktree version help symbolic-ref shortlog rev-list ls-remote"
  ).split(" "),
);
const doers = new Set(
  (
    "add commit push pull fetch checkout switch restore merge rebase reset revert cherry-pick clone init mv rm clean gc prune repack fsck " +
    "submodule bisect update-index update-ref write-tree read-tree apply am maintenance sparse-checkout lfs"
  ).split(" "),
);
const stashes = /^(?:push|pop|apply|drop|clear|save|branch|create|store)$/;

/** `alone`: shows no patch unless told to. `told`: only with an option that says to summarise. */
const tellingOptions: ReadonlyMap<string, "alone" | "told"> = new Map([
  ["log", "alone"],
  ["reflog", "alone"],
  ["show", "told"],
  ["diff", "told"],
  ["diff-tree", "told"],
  ["diff-index", "told"],
  ["diff-files", "told"],
  ["whatchanged", "told"],
]);

const quietOption =
  /^(?:--(?:stat|numstat|shortstat|dirstat|summary|name-only|name-status|oneline|graph|all|decorate|no-decorate|format|pretty|abbrev|abbrev-commit|no-abbrev-commit|since|until|after|before|author|committer|grep|no-merges|merges|first-parent|reverse|topo-order|date-order|author-date-order|date|max-count|skip|tags|branches|remotes|left-right|source|parents|children|boundary|count|no-patch|no-ext-diff|no-textconv|no-renames|find-renames|diff-filter|cached|staged|merge-base|exit-code|quiet|color|no-color|relative|compact-summary|walk-reflogs|no-walk|no-notes|follow|stat-width|stat-count)(?:=.*)?|-n|-n?\d+|-[sqzirM])$/s;
const summaries =
  /^(?:--(?:stat|numstat|shortstat|dirstat|summary|name-only|name-status|no-patch|quiet|compact-summary)(?:=|$)|-[sq]$)/;

/** `git status -v` shows what would be committed; a reference may lead to a file, whose content is its `raw` form. */
function showsContent(word: ShellWord, subcommand: string): boolean {
  return !isPlain(word) || /%\(\*?raw/.test(word.text) || (subcommand === "status" && /^-[a-zA-Z]*v|^--verb/.test(word.text));
}

function showsPatch(word: ShellWord): boolean {
  return !isPlain(word) || /^-[a-zA-Z]*[pve](?![a-zA-Z]*=)|^--(?:pat|verb|inter|edit|show-c)/.test(word.text);
}
