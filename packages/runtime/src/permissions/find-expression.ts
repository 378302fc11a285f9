import { exactWord, type ShellWord } from "./shell-words.ts";

/** What a `find` searches, and what it does with what it finds. */
export type FindExpression = {
  /** Where it starts: the current folder when nothing is named. */
  readonly starts: readonly ShellWord[];
  /** In their order, without the words of what they run. */
  readonly actions: readonly string[];
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
  let depth = 0;
  let asksForFile = false;
  let isFirst = true;
  for (let at = 0; at < expression.length; at++) {
    const text = expression[at] ?? "";
    if (text === "(") depth++;
    else if (text === ")") depth--;
    else if (text === "-type" && depth === 0 && expression[at + 1] === "f" && !/^(?:!|-not)$/.test(expression[at - 1] ?? ""))
      asksForFile ||= isFirst;
    else if (/^-i?name$/.test(text) && depth === 0 && isFirst && !/^(?:!|-not)$/.test(expression[at - 1] ?? "")) {
      const pattern = words[first + at + 1];
      if (pattern?.kind === "exact" && /^[\w.*?+@-]+$/.test(pattern.text)) only ??= pattern.text;
    }
    if (isAction(text)) {
      actions.push(text);
      isFirst = false;
    }
    if (runsProgram(text)) at = endOfProgram(expression, at);
    else if (takesValue(text)) at++;
  }
  // With alternatives nothing is certain, wherever the word stands.
  const isCertain = !texts.some((text) => /^(?:-o|-or|,|-L|-follow)$/.test(text));
  return {
    starts: starts.length > 0 ? starts : [exactWord(".")],
    actions,
    filesOnly: asksForFile && isCertain,
    only: isCertain ? only : undefined,
  };
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
