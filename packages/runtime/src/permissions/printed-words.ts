import type { ShellWord } from "./shell-words.ts";

const unknown = { kind: "open", text: "", tilde: false } as const;

/** Numbers of commits, or the names themselves where git knows none of that name. */
const commits =
  /^("?)\$\(git (?:rev-parse(?: --(?:short|verify|quiet)| -q)*(?: [\w@][\w./~^@-]*)+|merge-base [\w@][\w./~^@-]* [\w@][\w./~^@-]*|log -1 --format=%[hH])\)\1$/;

/** In quotes: without them, `cd` goes home where git finds no repository. */
const top = /^"\$\(git rev-parse --show-toplevel(?: 2> ?\/dev\/null)?\)"$/;

const found = /^("?)\$\((?:which|command -v) (\w[\w.+-]*)(?: 2> ?\/dev\/null)?\)\1$/;

/** What a word stands for that is nothing but a substitution whose output is known by its kind. */
export function printedWord(text: string): ShellWord | undefined {
  if (commits.test(text)) return { ...unknown, splits: true, commits: true };
  if (top.test(text)) return { ...unknown, splits: false, top: true };
  const [, quote, name] = found.exec(text) ?? [];
  return name === undefined ? undefined : { ...unknown, splits: quote === "", program: name };
}
