import type { ParsedScript, Redirection, Statement, SyntaxNode, While } from "unbash";
import { readWords } from "./option-grammar.ts";
import { rowOf } from "./program-table.ts";
import { readExpression } from "./find-expression.ts";
import { readFind } from "./read-only-scripts.ts";
import { settersIn } from "./shell-setters.ts";
import { type Bindings, exactWord, isOddName, isPlain, type Needs, readWord, type ShellWord } from "./shell-words.ts";

/** Names of files that a pipeline prints, one a line and nothing else. */
export type PrintedNames = {
  /** All are below one of these. */
  readonly starts: readonly ShellWord[];
  readonly links: boolean;
  readonly only?: string | undefined;
  /** Printed as they are, without the folder in front: one may look like an option. */
  readonly bare: boolean;
  /** With a NUL behind each. */
  readonly zero: boolean;
  /** A variable stands in one of its words, so that a name may begin with a path that is not written out. */
  readonly computed?: true | undefined;
  /** They come from git's index. */
  readonly index?: true | undefined;
};

/** As words for the program that is given them. Undefined when they would be taken apart in a way that is not followed. */
export function wordsOfNames(printed: PrintedNames, splitsAtZero: boolean): ShellWord[] | undefined {
  const { starts, links, only, bare, zero, computed, index } = printed;
  const names = bare || !zero;
  if (zero !== splitsAtZero || (names && starts.some(({ text }) => isOddName(text) || text.startsWith("-")))) return undefined;
  const needs: Needs = { links, names, only, path: computed, index };
  return starts.map((start) => ({ ...start, kind: "below", splits: true, needs }));
}

/** What the last command of a pipeline prints, given what it is fed. */
export function namesPrinted(
  node: SyntaxNode | undefined,
  fed: PrintedNames | undefined,
  bindings: Bindings,
): PrintedNames | undefined {
  if (node?.type !== "Command" || !node.name || node.prefix.length > 0) return undefined;
  if (!node.redirects.every(leavesOutput)) return undefined;
  const words = [node.name, ...node.args].flatMap((word) =>
    word.type === "Word" ? readWord(word, bindings) : [exactWord(word.text)],
  );
  if (!words.every(isPlain)) return undefined;
  const [name, ...rest] = words.map(({ text }) => text);
  const computed = node.args.some(({ text }) => /[$`]/.test(text)) || undefined;
  switch (name) {
    case "find":
      return withPath(ofFind(words.slice(1)), computed);
    case "git":
      return ofGit(rest);
    case "rg":
    case "grep":
      return fed && !lists(rest) ? filtered(name, words.slice(1), fed) : withPath(ofSearch(name, words.slice(1)), computed);
    case "ls":
      return withPath(ofLs(rest), computed);
    case "sort":
    case "uniq":
    case "head":
    case "tail":
    case "tac":
    case "shuf":
    case "cat":
      return fed && filtered(name, words.slice(1), fed);
    default:
      return undefined;
  }
}

/** Errors go elsewhere: `2>&1` would mix them with the names. */
function leavesOutput({ descriptor, operator }: Redirection): boolean {
  return /^2>[>|]?$/.test(`${descriptor?.type === "FileDescriptor" ? descriptor.value : ""}${operator}`);
}

/** `… | while read -r f`: what the loop gets are these names, one at a time. */
export function nameGiven({ kind, clause, body }: While, names: PrintedNames): [string, ShellWord] | undefined {
  const variable = kind === "while" ? variableRead(clause.commands) : undefined;
  const [word, ...more] = wordsOfNames(names, false) ?? [];
  if (variable === undefined || !word || more.length > 0) return undefined;
  return settersIn(body).any ? undefined : [variable, word];
}

/** A whole line goes into one variable. */
function variableRead(clause: readonly Statement[]): string | undefined {
  const [statement, ...more] = clause;
  if (!statement || more.length > 0 || statement.background) return undefined;
  const { command } = statement;
  if (command.type !== "Command" || command.name?.text !== "read" || command.redirects.length > 0) return undefined;
  if (!command.prefix.every((part) => part.type === "Assignment" && /^IFS=(?:''|"")?$/.test(part.text))) return undefined;
  const words = command.args.map(({ text }) => text);
  const [name, ...others] = words[0] === "-r" ? words.slice(1) : words;
  return others.length === 0 && /^[A-Za-z_]\w*$/.test(`${name}`) ? name : undefined;
}

export function namesPrintedBy(script: ParsedScript | undefined, bindings: Bindings): PrintedNames | undefined {
  const [statement, ...more] = script?.commands ?? [];
  if (!statement || more.length > 0 || statement.background || script?.errors?.length) return undefined;
  const { command } = statement;
  const parts = command.type === "Pipeline" && command.prefixes.length === 0 ? command.commands : [command];
  return parts.reduce<PrintedNames | undefined>((fed, part) => namesPrinted(part, fed, bindings), undefined);
}

function listing(starts: readonly string[]): PrintedNames {
  return { starts: starts.map(exactWord), links: true, bare: true, zero: false };
}

function withPath(names: PrintedNames | undefined, computed: true | undefined): PrintedNames | undefined {
  return names && { ...names, computed };
}

/** What a folder elsewhere holds is not among the files that are looked at here, and an operand that is a file is printed as it is. */
function ofLs(texts: readonly string[]): PrintedNames | undefined {
  const isKnown = (text: string): boolean => (text.startsWith("-") ? /^-1?A?1?$/.test(text) : isBelow(text) && !isOddName(text));
  return texts.every(isKnown) ? listing(["."]) : undefined;
}

function isBelow(path: string): boolean {
  return !/^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path);
}

function ofFind(words: readonly ShellWord[]): PrintedNames | undefined {
  if (!readFind(words)) return undefined;
  const { starts, actions, filesOnly, only } = readExpression(words);
  if (actions.length > 1 || !actions.every((action) => /^-print0?$/.test(action))) return undefined;
  return { starts, links: !filesOnly, only, bare: false, zero: actions.includes("-print0") };
}

function ofGit([subcommand = "", ...texts]: readonly string[]): PrintedNames | undefined {
  const known = Object.hasOwn(gitOptions, subcommand) ? gitOptions[subcommand] : undefined;
  const options = texts.filter((text) => text.startsWith("-") && text !== "--");
  if (!known || !options.every((text) => known.test(text)) || !texts.every((text) => isBelow(text) && !text.startsWith(":")))
    return undefined;
  const isNamed = subcommand !== "diff" || options.includes("--name-only");
  const listed = { ...listing(["."]), index: true, zero: options.some((text) => /^-[comd]*z/.test(text)) } as const;
  return isNamed ? listed : undefined;
}

/** With these, git prints names and nothing else. */
const gitOptions: Readonly<Record<string, RegExp>> = {
  "ls-files": /^(?:-[comdz]+|--cached|--others|--modified|--deleted|--exclude-standard|--deduplicate)$/,
  diff: /^(?:-z|--name-only|--cached|--staged|--merge-base|--no-renames|--relative|--diff-filter=[A-Za-z]+)$/,
};

function lists(texts: readonly string[]): boolean {
  return texts.some((text) => /^-[a-zA-Z]*l|^--files/.test(text));
}

function ofSearch(name: string, words: readonly ShellWord[]): PrintedNames | undefined {
  const row = rowOf(name);
  const { options = [], operands = [], doubt } = row ? readWords(row, words) : {};
  const known =
    /^(?:-[lirnwFEGPIs]|-[gte]|--files|--files-with-matches|--glob|--type|--include|--exclude|--exclude-dir|--ignore-case|--hidden|--recursive)$/;
  if (doubt !== undefined || !options.every((option) => option.exact && known.test(option.name))) return undefined;
  if (!options.some((option) => /^(?:-l|--files|--files-with-matches)$/.test(option.name))) return undefined;
  const isPatternGiven = options.some((option) => option.name === "-e" || option.name === "--files");
  const paths = operands.slice(isPatternGiven ? 0 : 1).map(({ word }) => word.text);
  return listing(paths.length > 0 ? paths : ["."]);
}

/** Options with which a filter leaves out lines or changes their order, and every line stays as it is. */
const keepingOptions: Readonly<Record<string, RegExp>> = {
  sort: /^(?:-[nrufV]|--reverse|--unique|--numeric-sort|--version-sort)$/,
  uniq: /^(?:-[diu]|--repeated|--unique|--ignore-case)$/,
  head: /^(?:-[n#q]|--lines)$/,
  tail: /^(?:-[n#q]|--lines)$/,
  shuf: /^(?:-n|--head-count)$/,
  grep: /^(?:-[vEFiwx]|--invert-match|--ignore-case)$/,
  rg: /^(?:-[vFiwx]|--invert-match|--ignore-case)$/,
};

/** Lines go through unchanged: nothing is read but the input, nothing put in front. */
function filtered(name: string, words: readonly ShellWord[], fed: PrintedNames): PrintedNames | undefined {
  const row = rowOf(name);
  const { options = [], operands = [], doubt } = row ? readWords(row, words) : {};
  const operandsAllowed = name === "grep" || name === "rg" ? 1 : 0;
  if (doubt !== undefined || operands.length > operandsAllowed || fed.zero) return undefined;
  const keeps = ({ exact, effect, name: option }: (typeof options)[number]): boolean =>
    exact && effect === "looks" && keepingOptions[name]?.test(option) === true;
  return options.every(keeps) ? fed : undefined;
}
