import { isSystemName } from "./read-only-commands.ts";
import type { Program } from "./parsed-command.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";
import { meansSubcommand, takesTasks, withoutFront } from "./subcommand-names.ts";

/** The pattern of a `Bash(…)` rule: words to start with (`git diff:*`, `npm run *`), the whole command, or text with wildcards. */
type CommandPattern =
  | { readonly type: "start"; readonly words: readonly string[] }
  | { readonly type: "whole"; readonly words: readonly string[]; readonly text: string }
  | { readonly type: "wild"; readonly text: string; readonly words: readonly string[] };

const patterns = new Map<string, CommandPattern>();

function readPattern(pattern: string): CommandPattern {
  const known = patterns.get(pattern);
  if (known) return known;
  const read = toPattern(pattern);
  if (patterns.size > 1_000) patterns.clear();
  patterns.set(pattern, read);
  return read;
}

function toPattern(pattern: string): CommandPattern {
  const start = /^(.*?)(?::\*| +\*)$/s.exec(pattern)?.[1];
  if (start !== undefined && !hasWildcard(start)) return { type: "start", words: splitWords(start) };
  if (hasWildcard(pattern)) return { type: "wild", text: pattern, words: splitWords(pattern) };
  return { type: "whole", words: splitWords(pattern), text: unescapeStars(pattern) };
}

/** Exactly this text, written out by someone who saw all of it. */
export function isWholeCommand(pattern: string, command: string): boolean {
  const read = readPattern(pattern);
  return read.type === "whole" && read.text === command.trim();
}

/** How many words of the program the pattern spells out, when it allows the program; undefined when it does not. */
export function wordsAllowed(pattern: string, program: Program): { readonly words: number; readonly whole: boolean } | undefined {
  const read = readPattern(pattern);
  const { words } = program;
  if (read.type === "wild") {
    if (!words.every((word) => isPlain(word))) return undefined;
    return matchesWildcard(read.text, words.map((word) => word.text).join(" "))
      ? { words: fixedWords(read.text), whole: false }
      : undefined;
  }
  if (read.words.length > words.length || (read.type === "whole" && read.words.length !== words.length)) return undefined;
  const fits = read.words.every((wanted, index) => isWord(words[index], wanted, index === 0));
  return fits ? { words: read.words.length, whole: read.type === "whole" } : undefined;
}

function isWord(word: ShellWord | undefined, wanted: string, isName: boolean): boolean {
  if (!isPlain(word)) return false;
  if (word.text === wanted) return true;
  return isName && isSystemName(word) && word.text.endsWith(`/${wanted}`);
}

/** Does the pattern forbid this program? Paths, letter case, the order and the spelling of options do not matter. */
export function forbids(pattern: string, program: Program): boolean {
  const read = readPattern(pattern);
  const text = [program.name, ...program.words.slice(1).map((word) => word.text)].join(" ");
  if (read.type === "wild") return forbidsWords(read.text.toLowerCase(), text.toLowerCase());
  const [name, ...rest] = read.words;
  if (name === undefined) return true;
  if (program.name === "" || !isSameProgram(program.name.toLowerCase(), basename(name).toLowerCase())) return false;
  const options = rest.filter(isOption);
  const given = program.words.flatMap((word) => (isOption(word.text) ? [word.text] : []));
  if (!options.every((option) => hasOption(given, option))) return false;
  const wanted = rest.filter((word) => !isOption(word));
  if (wanted.length > 0 && takesTasks(program.name)) return wanted.every((task) => mayHaveOperand(program, task));
  return withoutFront(basename(name).toLowerCase(), wanted, (word) => word).some((start) =>
    withoutFront(program.name.toLowerCase(), program.words.slice(1), ({ text }) => text).some((given) =>
      startsWith({ name: program.name, given }, start, read.type === "whole"),
    ),
  );
}

/** `pip3.11` is `pip3`, and both are `pip`. */
function isSameProgram(given: string, wanted: string): boolean {
  const [short, long] = given.length < wanted.length ? [given, wanted] : [wanted, given];
  return short !== "" && long.startsWith(short) && /^(?:[-.]?\d[\d.]*)?$/.test(long.slice(short.length));
}

function mayHaveOperand({ words }: Program, task: string): boolean {
  return words.slice(1).some((word) => (word.kind === "exact" ? word.text === task : !isOption(word.text)));
}

/** Nothing may be behind the last word: `git * push *` forbids `git -C x push` too. */
function forbidsWords(pattern: string, text: string): boolean {
  return (
    matchesWildcard(pattern, text) ||
    (/[^\\](?: +|:)\*$/.test(pattern) && matchesWildcard(pattern.replace(/(?: +|:)\*$/, ""), text))
  );
}

/** The text as a person reads it, for rules that were written with operators in them. */
export function forbidsText(pattern: string, command: string): boolean {
  const read = readPattern(pattern);
  const text = command.trim();
  if (read.type === "wild") return forbidsWords(read.text, text);
  return read.type === "whole" && read.text === text;
}

/** Operands in this order at the start; words in between are skipped only when they may be values of options. */
function startsWith(
  { name, given: words }: { name: string; given: readonly ShellWord[] },
  wanted: readonly string[],
  whole: boolean,
): boolean {
  const isMeant = (given: string, index: number): boolean =>
    index === 0 ? meansSubcommand(name.toLowerCase(), given, wanted[0] ?? "") : given === wanted[index];
  let found = 0;
  let afterOption = false;
  for (const word of words) {
    if (found === wanted.length && !whole) return true;
    const option = isOption(word.text);
    const fits = found < wanted.length && (word.kind !== "exact" || isMeant(word.text, found));
    if (fits && !option) found++;
    else if (!option && !afterOption) return false;
    afterOption = option && !word.text.includes("=") && word.text !== "--";
  }
  return found === wanted.length;
}

function isOption(text: string): boolean {
  return text.startsWith("-") && text !== "-";
}

const longNames: Readonly<Record<string, string>> = {
  f: "force",
  r: "recursive",
  R: "recursive",
  a: "all",
  i: "interactive",
  d: "delete",
  D: "delete",
  n: "dry-run",
  q: "quiet",
  v: "verbose",
  y: "yes",
  g: "global",
};

function hasOption(given: readonly string[], option: string): boolean {
  return namesOf(option).every((wanted) =>
    given.some((one) => namesOf(one).some((name) => isSameOption(name, wanted) || isShortened(one, name, wanted))),
  );
}

/** `-rf` is `recursive` and `force`; `--force=x` is `force`. */
function namesOf(option: string): string[] {
  if (option.startsWith("--")) return [option.slice(2).replace(/=.*/s, "")];
  return [...option.slice(1)].map((letter) => longNames[letter] ?? letter);
}

function isSameOption(given: string, wanted: string): boolean {
  return given === wanted || given.startsWith(`${wanted}-`);
}

/** Most programs take any beginning of a long option that is clear, and refuse one that is not. */
function isShortened(option: string, name: string, wanted: string): boolean {
  return option.startsWith("--") && name !== "" && wanted.startsWith(name);
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Words of a pattern: quotes keep spaces together. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"[^"]*"|\\[\s\S]|[^\s])+/g) ?? [];
  return words.map((word) => unescapeStars(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double)));
}

/** `\*` is a star and no wildcard. */
function hasWildcard(text: string): boolean {
  return text.replaceAll("\\*", "").includes("*");
}

function unescapeStars(text: string): string {
  return text.replaceAll("\\*", "*");
}

function fixedWords(text: string): number {
  return splitWords(text.slice(0, text.replaceAll("\\*", "  ").indexOf("*"))).length - (/\s\*|^\*/.test(text) ? 0 : 1);
}

/** `*` is any text. Each piece between stars is taken where it comes first, so nothing is tried twice. */
function matchesWildcard(pattern: string, text: string): boolean {
  const pieces = pattern.replaceAll("\\*", "\0").split("*");
  const [start = "", ...others] = pieces.map((piece) => piece.replaceAll("\0", "*"));
  const [end = ""] = others.slice(-1);
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const piece of others.slice(0, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.endsWith(end) && at + end.length <= text.length;
}
