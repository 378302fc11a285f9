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
  const module = moduleOf(name, words);
  if (module?.name) return withRun(program, exactWord(module.name), words.slice(module.end));
  const at = words.findIndex((word, index) => index > 0 && isPlain(word) && !word.text.startsWith("-"));
  const script = words[at];
  return script ? withRun(program, script, words.slice(at + 1)) : [program];
}

function withRun(program: Program, script: ShellWord, rest: readonly ShellWord[]): readonly Program[] {
  const started = programOf(script, rest);
  const run = startsOfRun(started.name, started.words).programs.map(([first = exactWord(""), ...more]) => programOf(first, more));
  return [program, ...[started, ...run].map((one) => ({ ...program, ...one, inside: [] }))];
}

/** Modules that Python is told to run: the first, and those that it would run in turn, as `-m cProfile -m x` does. Empty when one is not written out. */
export function modulesRun(name: string, words: readonly ShellWord[]): readonly string[] {
  const first = moduleOf(name, words);
  if (!first) return [];
  const moduleAt = (index: number): string | undefined => {
    const [, attached] = /^-[a-zA-Z]*?m(.*)$/s.exec(words[index]?.text ?? "") ?? [];
    const next = words[index + 1];
    return attached === undefined ? undefined : attached || (isPlain(next) ? next.text : "");
  };
  return [first.name, ...words.slice(first.end).flatMap((_, index) => moduleAt(first.end + index) ?? [])];
}

/** The module that Python runs, empty where it is not written out, and the word behind it. */
function moduleOf(name: string, words: readonly ShellWord[]): { readonly name: string; readonly end: number } | undefined {
  if (!/^(?:python|pypy)/.test(name)) return undefined;
  for (let at = 1; /^-./.test(words[at]?.text ?? ""); at++) {
    const { text = "" } = words[at] ?? {};
    if (text === "--" || text === "--check-hash-based-pycs") at++;
    if (text.startsWith("--")) continue;
    // The first letter that takes a value has the rest of the word, or the next one.
    const [, letter, attached = ""] = /^-[^cmWX]*([cmWX])(.*)$/s.exec(text) ?? [];
    if (letter === "c") return undefined;
    const next = words[at + 1];
    if (letter === "m") return { name: attached || (isPlain(next) ? next.text : ""), end: at + (attached ? 1 : 2) };
    if (letter !== undefined && attached === "") at++;
  }
  return undefined;
}

/** The program, or the module that Python runs instead of a script. */
export function asModule(program: Program): Program {
  const module = moduleOf(program.name, program.words);
  if (module === undefined) return program;
  return { ...program, name: module.name, words: [exactWord(module.name), ...program.words.slice(module.end)] };
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
