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

/** Modules that Python is told to run: the first, and those that it would run in turn, as `-m cProfile -m x` does. Empty when one is not written out. */
export function modulesRun(name: string, words: readonly ShellWord[]): readonly string[] {
  if (!/^(?:python|pypy)/.test(name)) return [];
  const first = words.findIndex((word, index) => index > 0 && !/^-./.test(word.text));
  const moduleAt = (index: number): string | undefined => {
    const [, attached] = /^-[a-zA-Z]*?m(.*)$/s.exec(words[index]?.text ?? "") ?? [];
    const next = words[index + 1];
    return attached === undefined ? undefined : attached || (isPlain(next) ? next.text : "");
  };
  const isModule = words.slice(1, first === -1 ? undefined : first).some((_, index) => moduleAt(index + 1) !== undefined);
  return isModule ? words.flatMap((_, index) => (index === 0 ? [] : (moduleAt(index) ?? []))) : [];
}

/** The program, or the module that Python runs instead of a script. */
export function asModule(program: Program): Program {
  const [module] = modulesRun(program.name, program.words);
  if (module === undefined) return program;
  const at = program.words.findIndex((word, index) => index > 0 && word.text.endsWith(module));
  return { ...program, name: module, words: [exactWord(module), ...program.words.slice(at + 1)] };
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
