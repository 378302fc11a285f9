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
  const first = texts.findIndex((text) => /^[-(!,]/.test(text) && !/^-[HLP]$/.test(text));
  const expression = first === -1 ? [] : texts.slice(first);
  let only: string | undefined;
  const starts = (first === -1 ? words : words.slice(0, first)).filter(({ text }) => !/^-[HLP]$/.test(text));
  const actions: string[] = [];
  const programs: { option: string; at: number; end: number }[] = [];
  let depth = 0;
  let asksForFile = false;
  let isFirst = true;
  for (let at = 0; at < expression.length; at++) {
    const text = expression[at] ?? "";
    if (text === "(") depth++;
    else if (text === ")") depth--;
    else if (text === "-type" && depth === 0 && isFile(words[first + at + 1]) && !/^(?:!|-not)$/.test(expression[at - 1] ?? ""))
      asksForFile ||= isFirst;
    else if (/^-i?name$/.test(text) && depth === 0 && isFirst && !/^(?:!|-not)$/.test(expression[at - 1] ?? "")) {
      const pattern = words[first + at + 1];
      if (pattern?.kind === "exact" && /^[\w.*?+@-]+$/.test(pattern.text)) only ??= pattern.text;
    }
    if (isAction(text)) {
      actions.push(text);
      isFirst = false;
    }
    if (runsProgram(text)) {
      const end = endOfProgram(expression, at);
      programs.push({ option: text, at: first + at + 1, end: first + end });
      at = end;
    } else if (takesValue(text)) at++;
  }
  // With alternatives nothing is certain, wherever the word stands.
  const isCertain = !texts.some((text) => /^(?:-o|-or|,|-L|-follow)$/.test(text));
  return {
    starts: starts.length > 0 ? starts : [exactWord(".")],
    actions,
    programs,
    filesOnly: asksForFile && isCertain,
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
  let end = from + 1;
  while (end < texts.length && texts[end] !== ";" && !(texts[end] === "+" && texts[end - 1] === "{}")) end++;
  return end;
}

export function runsProgram(text: string): boolean {
  return /^-(?:exec|execdir|ok|okdir)$/.test(text);
}

export function takesValue(text: string): boolean {
  return tests.has(text) || comparesFile(text) || /^-newer[aBcmt]{2}$/.test(text);
}

/** A test whose value names a file that is looked at. */
export function comparesFile(text: string): boolean {
  return /^-(?:newer|anewer|cnewer|samefile)$/.test(text);
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
