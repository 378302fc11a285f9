import assert from "node:assert/strict";
import { parseCommand } from "../../packages/runtime/src/permissions/parse-command.ts";
import type { Program } from "../../packages/runtime/src/permissions/parsed-command.ts";
import type { ShellWord } from "../../packages/runtime/src/permissions/shell-words.ts";

/** The first program of a line. */
export function programOf(line: string): Program {
  return parseCommand(line).programs[0] ?? assert.fail(line);
}

export function wordsOf(line: string): readonly ShellWord[] {
  return programOf(line).words.slice(1);
}

/**
 * What is known of words, to be compared: `a` exact, `a…` open, `a(*)` a pattern, `a/**` below, `+` may be several, `~:` from home,
 * `{links}` what the files below must not have.
 */
export function show(words: readonly ShellWord[]): string {
  const signs = { exact: "", open: "…", glob: "(*)", below: "/**" };
  return words
    .map(({ kind, text, splits, tilde, needs }) => {
      const needed = [needs?.links && "links", needs?.names && "names", needs?.shallow && "shallow"].filter(Boolean);
      return `${tilde ? "~:" : ""}${text}${signs[kind]}${splits ? "+" : ""}${needs ? `{${needed.join(" ")}}` : ""}` || "''";
    })
    .join(" ");
}
