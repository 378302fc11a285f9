import { lookingCommands } from "./asking-rows.ts";
import { lookingForms } from "./looking-forms.ts";
import { lookingRows } from "./looking-rows.ts";
import type { Row } from "./option-grammar.ts";
import { ruleRows } from "./rule-rows.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";
import { workingRows } from "./working-rows.ts";

const aliases: ReadonlyMap<string, string> = new Map([
  ["gawk", "awk"],
  ["mawk", "awk"],
  ["nawk", "awk"],
  ["pnpm", "npm"],
  ["yarn", "npm"],
  ["fdfind", "fd"],
  ["gmake", "make"],
]);

/** The grammar of a program; undefined for those nobody has written a row for. */
export function rowOf(name: string): Row | undefined {
  return rows.get(aliases.get(name) ?? name);
}

/** The same, also of programs that only rules let run. */
export function ruleRowOf(name: string): Row | undefined {
  return rowOf(name) ?? rowsOfRules.get(name);
}

/** A program that never runs without a rule: its row tells what such a rule does not cover, not all that its words mean. */
export function isOnlyRuled(name: string): boolean {
  return rowOf(name) === undefined && rowsOfRules.has(name);
}

/** Programs that take the names of files for files, and for nothing that matters, when none of them looks like an option. `awk` sets a variable by `x=y`. */
export function takesNames(name: string): boolean {
  return Object.hasOwn(lookingRows, name) || name === "sed" || name === "jq" || name === "awk";
}

/** The row by which a program looks; undefined for those that never do, and those that need more than a row. */
export function lookingRowOf(name: string): Row | undefined {
  return formsThatLook.get(name);
}

export function allRows(): ReadonlyMap<string, Row> {
  return rows;
}

const rowsOfRules: ReadonlyMap<string, Row> = new Map(Object.entries(ruleRows));
const formsThatLook: ReadonlyMap<string, Row> = new Map([...Object.entries(lookingRows), ...Object.entries(lookingForms)]);
const rows: ReadonlyMap<string, Row> = new Map([...Object.entries(lookingRows), ...Object.entries(workingRows)]);

/** The row of a subcommand that only looks, as in `gh pr view`, and the words behind it. */
export function lookingCommand(name: string, words: readonly ShellWord[]): { row: Row; words: readonly ShellWord[] } | undefined {
  let commands = Object.hasOwn(lookingCommands, name) ? lookingCommands[name] : undefined;
  for (const [index, word] of words.entries()) {
    const row = commands && isPlain(word) && Object.hasOwn(commands, word.text) ? commands[word.text] : undefined;
    if (!row?.commands) return row && { row, words: words.slice(index + 1) };
    commands = row.commands;
  }
  return undefined;
}
