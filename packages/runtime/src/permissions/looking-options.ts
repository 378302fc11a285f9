import { type ReadWords, readWords, type Row } from "./option-grammar.ts";
import type { ShellWord } from "./shell-words.ts";

export type LookingOptions = {
  readonly operands: readonly ShellWord[];
  /** Names of the options, without their values. */
  readonly given: ReadonlySet<string>;
  readonly options: ReadWords["options"];
};

/** The row of a program of which nothing but these options is known, all of which only look. */
export function rowOfLooks(looks: string): Row {
  return { looks, operands: "text" };
}

/** Undefined when an option is not spelled out in the row, or a word might turn out to be one. */
export function readLooking(words: readonly ShellWord[], row: Row): LookingOptions | undefined {
  const { options, operands, doubt } = readWords(row, words);
  if (doubt !== undefined || !options.every(({ exact }) => exact)) return undefined;
  return {
    operands: operands.map(({ word }) => word),
    given: new Set(options.map(({ name }) => name)),
    options,
  };
}
