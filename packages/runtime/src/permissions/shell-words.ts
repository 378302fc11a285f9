import type { BraceExpansionPart, DoubleQuotedChild, Word, WordPart } from "unbash";
import { isOwnName } from "./bash-names.ts";
import { patternLetter, plainNamesOfPart } from "./plain-text.ts";
import { printedWord } from "./printed-words.ts";

/** One word of a command after quote removal, as far as it is known without running anything. */
export type ShellWord = {
  /**
   * `exact`: the text is the whole word. `glob`: a pattern bash matches against files. `below`: names of files below the folder `text`.
   * `open`: known only as far as `text` goes.
   */
  readonly kind: "exact" | "glob" | "below" | "open";
  readonly text: string;
  /** May become several words, or none. A pattern with this has what it matches split once more. */
  readonly splits: boolean;
  /** Starts with an unquoted `~` or with `$HOME`. */
  readonly tilde: boolean;
  /** For `below`: what must hold for all files there, or the names may lead elsewhere. */
  readonly needs?: Needs | undefined;
  /** For `open`: nothing but digits, as the value of a variable. */
  readonly digits?: true;
  /** For `open`: bash may match it against files. */
  readonly pattern?: true;
  /** For `open`, as the value of a variable: no letter of it makes a pattern. */
  readonly plain?: true;
  /** For `open`: names that git takes for commits, none of them an option. */
  readonly commits?: true;
  /** For `open`: the top of the repository that the line is in, or nothing. */
  readonly top?: true;
  /** For `open`: where PATH has the program of this name, the name itself, or nothing. */
  readonly program?: string;
  /** For `open`: all of it, with `0` where numbers stand that are not known. */
  readonly numbered?: string | undefined;
};

/**
 * `links`: none leads out of the folder. `names`: none has a space, a quote or a dash in front, so that none is split or taken for an option.
 * `only`: of files and links, those whose name this pattern fits. `path`: the same holds for the path of the folder, which is in front.
 * `shallow`: this holds for the folder alone, not for those in it. `index`: git's index may name files that no folder holds, so a git must have printed them that refuses where those are odd.
 */
export type Needs = {
  readonly links: boolean;
  readonly names: boolean;
  readonly only?: string | undefined;
  readonly path?: true | undefined;
  readonly shallow?: true | undefined;
  readonly index?: true | undefined;
};

/** A shell or `xargs` would take such a name apart, or for a pattern. */
export function isOddName(name: string): boolean {
  return /[\s"'\\*?[]|[+@!]\(/.test(name);
}

/** What variables hold at some point of a script. A name without an entry is not set by it, unless there is one for all others. */
export type Bindings = ReadonlyMap<string, ShellWord>;
export const otherNames = "";

const maxAlternatives = 64;
const wildcard = /[*?[]/;

export function exactWord(text: string): ShellWord {
  return { kind: "exact", text, splits: false, tilde: false };
}

/** A number that is not known. */
export const numberWord: ShellWord = { kind: "open", text: "", splits: false, tilde: false, digits: true };

/** A number that is not known, or nothing, which is no word at all without quotes. */
export const maybeNumber: ShellWord = { ...numberWord, splits: true };

/** Some text that is not known. */
export const unknownWord: ShellWord = { kind: "open", text: "", splits: false, tilde: false };

/** Some text that is not known, and no pattern. */
export const plainWord: ShellWord = { ...unknownWord, plain: true };

/** Any number of words that are not known. */
export const unknownWords: ShellWord = { ...unknownWord, splits: true };

export function isPlain(word: ShellWord | undefined): word is ShellWord & { readonly kind: "exact"; readonly tilde: false } {
  return word !== undefined && word.kind === "exact" && !word.tilde;
}

/** Could the program read this word as an option? */
export function mayBeOption(word: ShellWord): boolean {
  if (word.tilde) return false;
  if (word.kind === "exact") return word.text.startsWith("-") && word.text !== "-";
  if (word.kind === "below") return false;
  if (word.splits || word.text === "") return true;
  return word.kind === "glob" ? /^[-*?[+@!]/.test(word.text) : word.text.startsWith("-");
}

/** Quote and brace expansion of one word of the source; several when it has braces, none when nothing is left of it. */
export function readWord(word: Word, bindings: Bindings): ShellWord[] {
  if (hasLooseBraces(word)) return [{ ...unknownWords, ...(wildcard.test(word.text) && { pattern: true }) }];
  if (!word.parts) return [{ ...exactWord(word.value), tilde: word.text.startsWith("~") }];
  const printed = printedWord(word.text);
  if (printed) return [printed];
  let drafts: Draft[] = [emptyDraft];
  for (const part of word.parts) {
    const pieces = readPart(part, bindings);
    drafts = drafts.flatMap((draft) => pieces.map((piece) => append(draft, piece)));
    if (drafts.length > maxAlternatives) return [{ ...unknownWords, ...(wildcard.test(word.text) && { pattern: true }) }];
  }
  const tilde = word.text.startsWith("~");
  // `{a,}` is one word to bash, `{a,}''` are two.
  const isQuoted = word.parts.some(({ type }) => /Quoted|Locale/.test(type));
  return drafts.filter(({ text, open }) => isQuoted || open || text !== "").map((draft) => toWord(draft, tilde));
}

/** Braces that the parser takes for letters and bash may not: to bash `{a},b}` is `a}` and `b`. */
function hasLooseBraces({ text, parts }: Word): boolean {
  const bare = parts ? parts.map((part) => (part.type === "Literal" ? part.text : "_")).join("") : text;
  return /\{.*(?:,|\.\.).*\}/s.test(bare.replaceAll(/\\./gs, "_"));
}

/** The value a variable gets from this word: bash neither splits it nor replaces patterns or braces in it. */
export function readValue(word: Word, bindings: Bindings): ShellWord | undefined {
  if (word.parts?.some(({ type }) => type === "BraceExpansion")) return undefined;
  const [value] = readWord(word, bindings);
  // A pattern in a variable is the name of some file that it has found.
  const isKnown = value?.kind === "exact" || (value?.kind === "glob" && !/[$`]/.test(word.text));
  return isKnown && !/:~/.test(value.text) ? { ...value, kind: "exact" } : undefined;
}

function toWord(draft: Draft, tilde: boolean): ShellWord {
  const { text, open: isOpen, glob, named, splits, start, digits, below, bracket, numbered } = draft;
  const open = isOpen || (glob && bracket === true);
  if (below && !open && !start && !tilde) return { kind: "below", text, splits, tilde: false, needs: below };
  // `$HOME` and `$PWD` are known as the beginning of a path only.
  const pattern = glob && !named ? ({ pattern: true } as const) : undefined;
  if (start && !/^.(?:\/|$)/s.test(text)) return { ...unknownWord, splits, ...pattern };
  const kind = open ? "open" : glob ? "glob" : "exact";
  const isNumbered = isOpen && numbered !== undefined && !tilde;
  return {
    kind,
    text,
    splits,
    tilde: tilde || start === "home",
    ...(digits && { digits }),
    ...(open && pattern),
    ...(isNumbered && { numbered }),
  };
}

/** `start`: the text begins with where a known folder is, `~` for home and `.` for the current one. */
type Draft = {
  readonly text: string;
  readonly open: boolean;
  readonly glob: boolean;
  /** Its pattern is in quotes: the name of a file that the pattern has found, which bash does not match again. */
  readonly named?: boolean | undefined;
  readonly splits: boolean;
  readonly start?: "home" | "here" | undefined;
  readonly fresh?: true;
  readonly digits?: true | undefined;
  /** The name of some file below what the text says. */
  readonly below?: Needs | undefined;
  /** It has a bracket that is just a letter: in a pattern it cannot be told from the others. */
  readonly bracket?: boolean | undefined;
  /** All of it, with `0` for each number; undefined where something else is not known. */
  readonly numbered?: string | undefined;
};

const emptyDraft: Draft = { text: "", open: false, glob: false, splits: false, fresh: true };
const openQuoted: Draft = { text: "", open: true, glob: false, splits: false };
const openBare: Draft = { ...openQuoted, splits: true };
const openNumber: Draft = { ...openQuoted, digits: true, numbered: "0" };
const computed: Draft = { ...openQuoted, numbered: "0" };
const closed: Draft = { text: "", open: false, glob: false, splits: false };
const here: Draft = { ...closed, text: ".", start: "here" };

function append(draft: Draft, piece: Draft): Draft {
  if (draft.fresh) return piece;
  const isPathOf = piece.below !== undefined && draft.text.endsWith("/") && !draft.glob && !draft.start;
  const open =
    draft.open ||
    piece.open ||
    piece.start !== undefined ||
    draft.below !== undefined ||
    (piece.below !== undefined && !isPathOf);
  return {
    text: draft.below ? "" : draft.open || piece.start || (open && piece.below) ? draft.text : draft.text + piece.text,
    open,
    glob: draft.glob || piece.glob,
    named: isNamed(draft) && isNamed(piece),
    splits: draft.splits || piece.splits,
    start: draft.start,
    digits: draft.digits && piece.digits,
    below: open ? undefined : piece.below,
    bracket: draft.bracket || piece.bracket,
    numbered: draft.numbered === undefined || piece.numbered === undefined ? undefined : draft.numbered + piece.numbered,
  };
}

function isNamed({ glob, named }: Draft): boolean {
  return !glob || named === true;
}

function letters(text: string): Draft {
  const written = { ...closed, text, numbered: text };
  return text.includes("[") ? { ...written, bracket: true } : written;
}

/** Bash reads more numbers behind `\x` and `\U` than the parser does, and bytes that are no letters are not kept. */
function readEscapes({ text, value }: { readonly text: string; readonly value: string }): Draft {
  return /\\x\{|\\U|\ufffd/.test(text + value) ? openQuoted : letters(value);
}

function readPart(part: WordPart, bindings: Bindings): Draft[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return [letters(part.value)];
    case "AnsiCQuoted":
      return [readEscapes(part)];
    case "DoubleQuoted":
    case "LocaleString":
      return [part.parts.map((child) => readQuoted(child, bindings)).reduce(append, emptyDraft)].map(
        ({ fresh: _, ...draft }) => ({ ...draft, named: draft.glob }),
      );
    case "Glob":
      return [/["'\\$`]/.test(part.text) ? { ...openBare, glob: true } : { ...closed, text: part.text, glob: true }];
    case "ProcessSubstitution":
      return [{ ...closed, text: "/dev/fd/63" }];
    case "BraceExpansion":
      return readBraces(part);
    case "SimpleExpansion":
    case "ParameterExpansion":
      return [bound(part, bindings, false) ?? { ...openBare, glob: mayBePattern(part, bindings) }];
    case "ArithmeticExpansion":
      return [computed];
    case "CommandExpansion":
      return [printsPlace(part) ? here : { ...openBare, glob: mayBePattern(part, bindings) }];
    case "ExtendedGlob":
      return [{ ...openBare, glob: true }];
  }
}

function readQuoted(child: DoubleQuotedChild, bindings: Bindings): Draft {
  if (child.type === "Literal") return letters(child.value);
  if (child.type === "ArithmeticExpansion") return computed;
  if (child.type === "SimpleExpansion" && child.text === "$@") return openBare;
  if (printsPlace(child)) return here;
  if (child.type === "ParameterExpansion" && (child.parameter === "@" || child.index?.text === "@")) return openBare;
  return bound(child, bindings, true) ?? openQuoted;
}

/** May bash find a letter of a pattern in what it puts here? */
function mayBePattern(part: WordPart, bindings: Bindings): boolean {
  const names = plainNamesOfPart(part);
  return names === undefined || !names.every((name) => isPlainText(name, bindings));
}

function isPlainText(name: string, bindings: Bindings): boolean {
  const word = bindings.get(name);
  if (!word) return !bindings.has(otherNames) && isOwnName(name);
  return word.plain === true || word.digits === true || (word.kind === "exact" && !patternLetter.test(word.text));
}

/** `$(pwd)` is where the line is, as `$PWD` says it, too. */
function printsPlace({ text }: { readonly text: string }): boolean {
  return /^(?:\$\(\s*pwd\s*\)|`\s*pwd\s*`)$/.test(text);
}

/** What a variable holds: without quotes, bash splits it and takes it for a pattern. */
function bound(part: { readonly text: string }, bindings: Bindings, quoted: boolean): Draft | undefined {
  const name = part.text.replace(/^\$\{?|\}$/g, "");
  const word = bindings.get(name);
  if (!word && (name === "HOME" || name === "PWD"))
    return { ...closed, text: name === "HOME" ? "~" : ".", start: name === "HOME" ? "home" : "here" };
  if (/^\$[?#$]$/.test(part.text)) return openNumber;
  if (word?.digits) return { ...openNumber, splits: word.splits && !quoted };
  // Nothing at all, before something runs in the background.
  if (part.text === "$!") return { ...openNumber, splits: !quoted };
  // Printed line by line, names must have nothing that bash would take apart.
  if (word?.needs) return { ...closed, text: word.text, below: word.needs };
  if (!word || word.kind === "open") return undefined;
  const start = word.tilde ? "home" : undefined;
  if (word.tilde && !/^~(?:\/|$)/.test(word.text)) return undefined;
  const glob = word.kind === "glob";
  if (quoted) return { ...letters(word.text), glob, start };
  if (word.text === "" || /[\s\\]/.test(word.text)) return undefined;
  return { ...closed, text: word.text, glob: glob || /[*?[]/.test(word.text), splits: glob, start };
}

/** `{a,b}` of plain text. Sequences, nesting and quotes are left open. */
function readBraces(part: BraceExpansionPart): Draft[] {
  const inner = /^\{([\w./:@%+=,-]*)\}$/.exec(part.text)?.[1];
  const steps = /^\{(0|[1-9]\d{0,3})\.\.(0|[1-9]\d{0,3})\}$/.exec(part.text);
  if (steps) {
    const [from, to] = [Number(steps[1]), Number(steps[2])];
    if (Math.abs(to - from) < maxAlternatives)
      return Array.from({ length: Math.abs(to - from) + 1 }, (_, step) => ({
        ...closed,
        text: String(from + step * Math.sign(to - from)),
      }));
  }
  if (inner === undefined || !inner.includes(",") || inner.includes(".."))
    return [{ ...openBare, glob: wildcard.test(part.text) }];
  return inner.split(",").map((text) => ({ ...closed, text }));
}
