import type { DiffLine } from "../protocol/events.ts";
import { cutLine } from "./numbered-lines.ts";
import { splitLines } from "./text-file.ts";

const contextLines = 3;
/** Beyond this many changed lines the shortest edit is no longer looked for; the whole middle is shown as replaced. */
const maxDistance = 1000;

/** What changed between two texts, as hunks with a little context. Bounded: it is for looking at, not for applying. */
export function diffLines(before: string, after: string, maxLines: number = 400): DiffLine[] {
  const old = splitLines(before);
  const fresh = splitLines(after);
  const lines: DiffLine[] = [];
  for (const hunk of toHunks(changedRegions(old, fresh), old.length)) {
    const first = hunk[0];
    const last = hunk.at(-1);
    if (!first || !last) continue;
    const lead = Math.min(contextLines, first.oldStart);
    const tail = Math.min(contextLines, old.length - last.oldEnd);
    const oldCount = last.oldEnd - first.oldStart + lead + tail;
    const newCount = last.newEnd - first.newStart + lead + tail;
    const oldFrom = first.oldStart - lead + (oldCount === 0 ? 0 : 1);
    const newFrom = first.newStart - lead + (newCount === 0 ? 0 : 1);
    lines.push({ type: "hunk", text: `@@ -${oldFrom},${oldCount} +${newFrom},${newCount} @@` });

    let oldAt = first.oldStart - lead;
    let newAt = first.newStart - lead;
    const context = (end: number): void => {
      for (; oldAt < end; oldAt++, newAt++) lines.push(lineOf("context", old[oldAt], newAt));
    };
    for (const region of hunk) {
      context(region.oldStart);
      for (; oldAt < region.oldEnd; oldAt++) lines.push(lineOf("remove", old[oldAt], oldAt));
      for (; newAt < region.newEnd; newAt++) lines.push(lineOf("add", fresh[newAt], newAt));
    }
    context(last.oldEnd + tail);
  }
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines), { type: "hunk", text: `… ${lines.length - maxLines} more lines` }];
}

/** `[oldStart, oldEnd)` was replaced by `[newStart, newEnd)`; lines are counted from 0. */
type Region = { oldStart: number; oldEnd: number; newStart: number; newEnd: number };

/** `line` is the number in the new file, except for a removed line, which has one only in the old file. */
function lineOf(type: DiffLine["type"], text: string | undefined, index: number): DiffLine {
  return { type, text: cutLine(text ?? "", 500), line: index + 1 };
}

/** Regions whose context would touch belong to one hunk. */
function toHunks(regions: Region[], oldLength: number): Region[][] {
  const hunks: Region[][] = [];
  let reach = -1;
  for (const region of regions) {
    const current = hunks.at(-1);
    if (current && region.oldStart - contextLines <= reach) current.push(region);
    else hunks.push([region]);
    reach = Math.min(oldLength, region.oldEnd + contextLines);
  }
  return hunks;
}

function changedRegions(old: string[], fresh: string[]): Region[] {
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let oldEnd = old.length;
  let newEnd = fresh.length;
  while (oldEnd > start && newEnd > start && old[oldEnd - 1] === fresh[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  if (start === oldEnd && start === newEnd) return [];
  const whole: Region = { oldStart: start, oldEnd, newStart: start, newEnd };
  if (start === oldEnd || start === newEnd) return [whole];

  const numbers = new Map<string, number>();
  const toNumbers = (lines: string[]): Int32Array =>
    Int32Array.from(lines, (line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  const edit = shortestEdit(toNumbers(old.slice(start, oldEnd)), toNumbers(fresh.slice(start, newEnd)));
  if (!edit) return [whole];

  const regions: Region[] = [];
  let oldAt = 0;
  let newAt = 0;
  while (oldAt < edit.removed.length || newAt < edit.added.length) {
    const region: Region = { oldStart: start + oldAt, oldEnd: 0, newStart: start + newAt, newEnd: 0 };
    while (edit.removed[oldAt]) oldAt++;
    while (edit.added[newAt]) newAt++;
    region.oldEnd = start + oldAt;
    region.newEnd = start + newAt;
    if (region.oldEnd > region.oldStart || region.newEnd > region.newStart) regions.push(region);
    oldAt++;
    newAt++;
  }
  return regions;
}

/** Myers' greedy search for the fewest removed and added lines; undefined when that would cost too much. */
function shortestEdit(old: Int32Array, fresh: Int32Array): { removed: Uint8Array; added: Uint8Array } | undefined {
  const total = old.length + fresh.length;
  const limit = Math.min(total, maxDistance, Math.max(50, Math.floor(20_000_000 / total)));
  const furthest = new Int32Array(2 * limit + 3);
  const origin = limit + 1;
  const history: Int32Array[] = [];
  for (let distance = 0; distance <= limit; distance++) {
    // Only the diagonals reached so far: the history grows with the square of the distance, not with the length of the file.
    history.push(furthest.slice(origin - distance - 1, origin + distance + 2));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const down =
        diagonal === -distance ||
        (diagonal !== distance && at(furthest, origin + diagonal - 1) < at(furthest, origin + diagonal + 1));
      let x = down ? at(furthest, origin + diagonal + 1) : at(furthest, origin + diagonal - 1) + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x++;
      furthest[origin + diagonal] = x;
      if (x >= old.length && x - diagonal >= fresh.length) return walkBack(old, fresh, history);
    }
  }
  return undefined;
}

function walkBack(old: Int32Array, fresh: Int32Array, history: Int32Array[]): { removed: Uint8Array; added: Uint8Array } {
  const removed = new Uint8Array(old.length);
  const added = new Uint8Array(fresh.length);
  let x = old.length;
  let y = fresh.length;
  for (let distance = history.length - 1; distance > 0; distance--) {
    const reached = history[distance] ?? new Int32Array();
    const before = (diagonal: number): number => at(reached, diagonal + distance + 1);
    const diagonal = x - y;
    const down = diagonal === -distance || (diagonal !== distance && before(diagonal - 1) < before(diagonal + 1));
    const previous = down ? diagonal + 1 : diagonal - 1;
    x = before(previous);
    y = x - previous;
    if (down) added[y] = 1;
    else removed[x] = 1;
  }
  return { removed, added };
}

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}
