import { numberedLine } from "./numbered-lines.ts";
import { splitLines } from "./text-file.ts";

/** Why the text to replace is not in the file, as far as that can be told: one or two sentences for the model. */
export function explainMissing(text: string, oldText: string): string {
  const wanted = trimBlankLines(splitLines(oldText));
  const lines = splitLines(text);
  if (wanted.length === 0) return "It consists of white space only; include the text around it.";
  if (wanted.every((line) => line.trim() === "" || /^\s*\d+\t/.test(line))) {
    return "It starts with the line numbers that Read shows: leave the number and the tab out.";
  }

  const best = longestMatch(lines.map(simplify), wanted.map(simplify));
  if (!best) return "Nothing like it was found; Read the part of the file you want to change.";
  if (best.length === wanted.length) {
    const shown = lines.slice(best.start, best.start + Math.min(best.length, 10));
    const numbered = shown.map((line, index) => numberedLine(best.start + index + 1, line)).join("\n");
    return `Line ${best.start + 1} matches when white space and quotation marks are ignored. The file has:\n${numbered}`;
  }
  const differing = best.start + best.length;
  const last =
    best.length === 1
      ? `Line ${best.start + 1} matches its beginning`
      : `Lines ${best.start + 1} to ${differing} match its beginning`;
  const actual =
    differing < lines.length
      ? `line ${differing + 1} is:\n${numberedLine(differing + 1, lines[differing] ?? "")}`
      : "the file ends there.";
  return `${last}, but then ${actual}`;
}

/** Where most of the wanted lines follow each other from the first one on. */
function longestMatch(lines: string[], wanted: string[]): { start: number; length: number } | undefined {
  let best: { start: number; length: number } | undefined;
  let compared = 0;
  for (let start = 0; start < lines.length && compared < 5_000_000; start++) {
    let length = 0;
    while (length < wanted.length && start + length < lines.length && lines[start + length] === wanted[length]) length++;
    compared += length + 1;
    if (length > (best?.length ?? 0)) best = { start, length };
    if (length === wanted.length) break;
  }
  return best;
}

/** Two lines that look the same to a reader are the same. */
function simplify(line: string): string {
  return line
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010-\u2015]/g, "-")
    .replace(/\s+/g, " ")
    .trim();
}

function trimBlankLines(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first === -1 ? [] : lines.slice(first, last + 1);
}
