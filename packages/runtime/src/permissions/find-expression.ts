import { exactWord, isPlain, mayBeOption, type ShellWord } from "./shell-words.ts";

/** What a `find` searches, and what it does with what it finds. */
export type FindExpression = {
  /** Where it starts: the current folder when nothing is named. */
  readonly starts: readonly ShellWord[];
  /** In their order, without the words of what they run. */
  readonly actions: readonly string[];
  /** What they run: the words from `at` up to `end`, which is the one that ends it. */
  readonly programs: readonly { readonly option: string; readonly at: number; readonly end: number }[];
  /** Nothing but files gets to any action: no links, unless they are followed. */
  readonly filesOnly: boolean;
  /** A pattern that the last name of whatever gets to any action fits. */
  readonly only: string | undefined;
};

/** Takes the words behind `find` apart. What is not known counts as a test without a value. */
export function readExpression(words: readonly ShellWord[]): FindExpression {
  const texts = words.map(({ text }) => text);
  const found = texts.findIndex((text) => /^[-(!,]/.test(text) && !/^-[HLP]$/.test(text));
  const first = found === -1 ? texts.length : found;
  const starts = words.slice(0, first).filter(({ text }) => !/^-[HLP]$/.test(text));
  const actions: string[] = [];
  const programs: { option: string; at: number; end: number }[] = [];
  let only: string | undefined;
  let filesOnly = false;
  let depth = 0;
  let next = first;
  for (const [at, text] of texts.entries()) {
    if (at < next) continue;
    next = at + 1;
    const value = words[next];
    if (text === "(") depth++;
    if (text === ")") depth--;
    // What holds for everything that gets to the first action.
    if (depth === 0 && actions.length === 0 && !/^(?:!|-not)$/.test(`${texts[at - 1]}`)) {
      if (text === "-type") filesOnly ||= isFile(value);
      if (/^-i?name$/.test(text) && value?.kind === "exact" && /^[\w.*?+@-]+$/.test(value.text)) only ??= value.text;
    }
    if (isAction(text)) actions.push(text);
    if (runsProgram(text)) {
      const end = endOfProgram(texts, at);
      programs.push({ option: text, at: next, end });
      next = end + 1;
    } else if (takesValue(text)) next++;
  }
  // With alternatives nothing is certain, wherever the word stands.
  const isCertain = !texts.some((text) => /^(?:-o|-or|,|-L|-follow)$/.test(text));
  return {
    starts: starts.length > 0 ? starts : [exactWord(".")],
    actions,
    programs,
    filesOnly: filesOnly && isCertain,
    only: isCertain ? only : undefined,
  };
}

function isFile(type: ShellWord | undefined): boolean {
  return isPlain(type) && type.text === "f";
}

/** Could this word, which is not known, turn out to be a test, an action, an operator or the end of what `-exec` runs? */
export function mayBeSyntax(word: ShellWord): boolean {
  return word.kind !== "exact" && (mayBeOption(word) || /^[;+(),!]/.test(word.text));
}

/** The index of the word that ends what `-exec` runs, or the number of words. */
export function endOfProgram(texts: readonly string[], from: number): number {
  const words = texts.slice(from + 1);
  const end = words.findIndex((text, at) => text === ";" || (text === "+" && words[at - 1] === "{}"));
  return end === -1 ? texts.length : from + 1 + end;
}

export function runsProgram(text: string): boolean {
  return /^-(?:exec|execdir|ok|okdir)$/.test(text);
}

export function takesValue(text: string): boolean {
  return tests.has(text) || comparesFile(text) || /^-newer[aBcm]t$/.test(text);
}

/** A test whose value names a file that is looked at. */
export function comparesFile(text: string): boolean {
  return /^-(?:newer|anewer|cnewer|samefile|newer[aBcm]{2})$/.test(text);
}

function isAction(text: string): boolean {
  return runsProgram(text) || /^-(?:print|print0|printf|ls|delete|fls|fprint\w*)$/.test(text);
}

const tests = new Set(
  (
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth " +
    "-mindepth -perm -user -group -uid -gid -printf -regextype -links -inum -fstype -lname -ilname"
  ).split(" "),
);
