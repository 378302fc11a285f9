import { isLanguage, isShell } from "./interpreters.ts";
import { startsOfRun } from "./package-runners.ts";
import type { Program } from "./parsed-command.ts";
import { exactWord, isPlain, type ShellWord } from "./shell-words.ts";

/**
 * The program, and what it is under the name of the script it runs: `node …/npm-cli.js publish` and `python3 -m twine upload` do what
 * `npm publish` and `twine upload` do, so what forbids those forbids these. A script under another name is not known by it.
 */
export function withScript(program: Program): readonly Program[] {
  const { name, words } = program;
  if (!isLanguage(name) && !isShell(name)) return [program];
  const at = words.findIndex((word, index) => index > 0 && isPlain(word) && !word.text.startsWith("-"));
  const script = words[at];
  if (!script) return [program];
  const started = programOf(script, words.slice(at + 1));
  const run = startsOfRun(started.name, started.words).programs.map(([first = exactWord(""), ...rest]) => programOf(first, rest));
  return [program, ...[started, ...run].map((one) => ({ ...program, ...one, inside: [] }))];
}

function programOf(
  first: ShellWord,
  rest: readonly ShellWord[],
): { readonly name: string; readonly words: readonly ShellWord[] } {
  const file = first.text.slice(first.text.lastIndexOf("/") + 1);
  const name = file
    .replace(/\.(?:[cm]?js|[cm]?ts|py[cz]?|rb|sh|bash|pl|php|phar)$/, "")
    .replace(/-v?\d+(?:\.\d+)*$/, "")
    .replace(/-cli$/, "");
  return { name, words: [exactWord(name), ...rest] };
}
