import { numberedLine } from "./numbered-lines.ts";
import { splitLines } from "./text-file.ts";

const around = 3;
const mostLines = 40;

/** The changed places of a file as they are now, with the lines around them; parts that are long are cut in the middle. */
export function linesNow(file: { name: string; before: string; text: string; lines: readonly number[] }): string[] {
  const now = splitLines(file.text);
  const old = splitLines(file.before);
  if (now.length === 0) return [`${file.name} is empty now.`];
  let same = 0;
  while (same < Math.min(now.length, old.length) && now.at(-1 - same) === old.at(-1 - same)) same++;
  const lastChanged = Math.max(now.length - same, 1);
  const ranges: { from: number; to: number }[] = [];
  for (const [index, line] of file.lines.entries()) {
    const next = file.lines[index + 1] ?? lastChanged + 1;
    const end = Math.min(index === file.lines.length - 1 ? lastChanged : Math.min(line + 10, next - 1), now.length);
    const range = { from: Math.max(1, line - around), to: Math.min(now.length, Math.max(line, end) + around) };
    const last = ranges.at(-1);
    if (last && range.from <= last.to + 1) last.to = Math.max(last.to, range.to);
    else ranges.push(range);
  }
  const shown = ranges.map(({ from, to }) => now.slice(from - 1, to).map((line, index) => numberedLine(from + index, line)));
  const all = shown.flatMap((lines, index) => (index === 0 ? lines : ["     …", ...lines]));
  const cut = all.length > mostLines ? [...all.slice(0, mostLines / 2), "     …", ...all.slice(-mostLines / 2)] : all;
  return [`${file.name} now:`, ...cut];
}

export function linesInWords(lines: readonly number[]): string {
  const shown = [...new Set(lines)].slice(0, 10).join(", ");
  return `${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > 10 ? " and more" : ""}`;
}
