import type { Assignment, Word } from "unbash";
import { namesPrintedBy, wordsOfNames } from "./printed-names.ts";
import { takesNames } from "./program-table.ts";
import { type Bindings, readWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** The name and the arguments of a command, with what variables hold put in. */
export function wordsOfCommand([name, ...rest]: readonly [Word, ...(Word | Assignment)[]], bindings: Bindings): ShellWord[] {
  const looks = takesNames(name.value) || /^(?:echo|printf)$/.test(name.value);
  return [name, ...rest].flatMap((word) => (looks ? namesIn(word, bindings) : undefined) ?? readArgument(word, bindings));
}

/** What an assignment puts into its variable, before bash makes an array or a sum of it. */
export function assignedWord({ value }: Assignment, bindings: Bindings): ShellWord | undefined {
  return value.type === "Word" ? readWord(value, bindings)[0] : undefined;
}

/** `wc -l $(git ls-files)`: files of the project, if their names allow it. */
export function namesIn(argument: Word | Assignment, bindings: Bindings): ShellWord[] | undefined {
  if (argument.type !== "Word" || argument.parts?.length !== 1) return undefined;
  const [part] = argument.parts;
  const names = part?.type === "CommandExpansion" ? namesPrintedBy(part.script, bindings) : undefined;
  return names && wordsOfNames(names, false);
}

function readArgument(argument: Word | Assignment, bindings: Bindings): ShellWord[] {
  if (argument.type === "Word") return readWord(argument, bindings);
  const value = assignedWord(argument, bindings);
  const head = `${argument.name}${argument.index ? `[${argument.index.text}]` : ""}=`;
  // What is assigned is neither split nor matched.
  const { pattern: _, ...rest } = value ?? unknownWord;
  return [{ ...rest, text: value ? head + value.text : head, tilde: false }];
}
