import type { BraceExpansionPart, DoubleQuotedChild, Word, WordPart } from "unbash";

/** One word of a command after quote removal, as far as it is known without running anything. */
export type ShellWord = {
  /** `exact`: the text is the whole word. `glob`: a pattern bash matches against files. `open`: known only as far as `text` goes. */
  readonly kind: "exact" | "glob" | "open";
  readonly text: string;
  /** May become several words, or none. */
  readonly splits: boolean;
  /** Starts with an unquoted `~`, which bash replaces. */
  readonly tilde: boolean;
};

/** What a `for` loop gives its variable. */
export type Bindings = ReadonlyMap<string, ShellWord>;

const maxAlternatives = 64;

export function exactWord(text: string): ShellWord {
  return { kind: "exact", text, splits: false, tilde: false };
}

/** Some text that is not known. */
export const unknownWord: ShellWord = { kind: "open", text: "", splits: false, tilde: false };

export function isPlain(word: ShellWord | undefined): word is ShellWord & { readonly kind: "exact"; readonly tilde: false } {
  return word !== undefined && word.kind === "exact" && !word.tilde;
}

/** Could the program read this word as an option? */
export function mayBeOption(word: ShellWord): boolean {
  if (word.tilde) return false;
  if (word.kind === "exact") return word.text.startsWith("-") && word.text !== "-";
  if (word.splits || word.text === "") return true;
  return word.kind === "glob" ? /^[-*?[+@!]/.test(word.text) : word.text.startsWith("-");
}

/** Quote and brace expansion of one word of the source; several when it has braces. */
export function readWord(word: Word, bindings: Bindings): ShellWord[] {
  if (!word.parts) return [{ ...exactWord(word.value), tilde: word.text.startsWith("~") }];
  let drafts: Draft[] = [emptyDraft];
  for (const part of word.parts) {
    const pieces = readPart(part, bindings);
    drafts = drafts.flatMap((draft) => pieces.map((piece) => append(draft, piece)));
    if (drafts.length > maxAlternatives) return [{ ...unknownWord, splits: true }];
  }
  const tilde = word.text.startsWith("~");
  return drafts.map(({ text, open, glob, splits }) => ({ kind: open ? "open" : glob ? "glob" : "exact", text, splits, tilde }));
}

type Draft = { readonly text: string; readonly open: boolean; readonly glob: boolean; readonly splits: boolean };

const emptyDraft: Draft = { text: "", open: false, glob: false, splits: false };
const openQuoted: Draft = { ...emptyDraft, open: true };
const openBare: Draft = { ...openQuoted, splits: true };

function append(draft: Draft, piece: Draft): Draft {
  return {
    text: draft.open ? draft.text : draft.text + piece.text,
    open: draft.open || piece.open,
    glob: draft.glob || piece.glob,
    splits: draft.splits || piece.splits,
  };
}

function readPart(part: WordPart, bindings: Bindings): Draft[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [{ ...emptyDraft, text: part.value }];
    case "DoubleQuoted":
    case "LocaleString":
      return [part.parts.map((child) => readQuoted(child, bindings)).reduce(append, emptyDraft)];
    case "Glob":
      return [{ ...emptyDraft, text: part.text, glob: true }];
    case "ProcessSubstitution":
      return [{ ...emptyDraft, text: "/dev/fd/63" }];
    case "BraceExpansion":
      return readBraces(part);
    case "SimpleExpansion":
    case "ParameterExpansion":
      return [bound(part, bindings) ?? openBare];
    case "ArithmeticExpansion":
      return [openQuoted];
    case "CommandExpansion":
    case "ExtendedGlob":
      return [openBare];
  }
}

function readQuoted(child: DoubleQuotedChild, bindings: Bindings): Draft {
  if (child.type === "Literal") return { ...emptyDraft, text: child.value };
  if (child.type === "SimpleExpansion" && child.text === "$@") return openBare;
  if (child.type !== "SimpleExpansion" && child.type !== "ParameterExpansion") return openQuoted;
  if (child.type === "ParameterExpansion" && (child.parameter === "@" || child.index?.text === "@")) return openBare;
  return bound(child, bindings) ?? openQuoted;
}

function bound(part: { readonly type: string; readonly text: string }, bindings: Bindings): Draft | undefined {
  const word = bindings.get(part.text.replace(/^\$\{?|\}$/g, ""));
  if (!word || word.kind === "open" || /\s/.test(word.text)) return undefined;
  return { text: word.text, open: false, glob: word.kind === "glob", splits: false };
}

/** `{a,b}` of plain text. Sequences, nesting and quotes are left open. */
function readBraces(part: BraceExpansionPart): Draft[] {
  const inner = /^\{([\w./:@%+=,-]*)\}$/.exec(part.text)?.[1];
  if (inner === undefined || !inner.includes(",") || inner.includes("..")) return [openBare];
  return inner.split(",").map((text) => ({ ...emptyDraft, text }));
}
