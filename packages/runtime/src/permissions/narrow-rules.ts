import type { Program } from "./parsed-command.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/** Options that name no other code, and give no rights, to a program that tests, checks or formats. */
const harmless =
  /^(?:--test-(?:name|skip)-pattern|--test-(?:concurrency|timeout|only|force-exit)|--filter|--fail-fast|--parallel|--no-check|--quiet|-q|--)(?:=|$)/;

/** Why a preset's rule with a wildcard does not cover the program, whose words fit it; undefined when it does. */
export function beyondNarrow(pattern: string, { name, words }: Program): string | undefined {
  const wanted = pattern.replace(/:\*$/, "").split(" ");
  const isOpen = pattern.endsWith(":*");
  const stars = words.filter((_, index) => wanted[index] === "*");
  const more = words.slice(wanted.length);
  const other = stars.find((word) => !isBelow(word)) ?? more.find((word) => !isOpen || !(isBelow(word) || isHarmless(word)));
  return other && `${name} ${other.text} is not one of the project's own files, or does more`;
}

function isHarmless(word: ShellWord): boolean {
  return isPlain(word) && harmless.test(word.text);
}

/** A name, or a path that leads nowhere else. */
function isBelow(word: ShellWord): boolean {
  return isPlain(word) && /^[^-/~:][^:]*$/.test(word.text) && !word.text.split("/").includes("..");
}
