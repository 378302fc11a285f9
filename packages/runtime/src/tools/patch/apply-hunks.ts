import type { Hunk } from "./parse-patch.ts";

/** `lines` are where the changed places are now, counted from 1. */
export type Applied =
  | { readonly type: "applied"; readonly text: string; readonly lines: readonly number[]; readonly loose: boolean }
  | { readonly type: "misfit"; readonly hunk: number; readonly missing: "anchor" | "lines"; readonly wanted: readonly string[] };

/** Ways in which two lines are the same, the strictest first; what is not exact is said. */
const ways: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    line
      .trim()
      .replace(/[\u2010-\u2015\u2212]/g, "-")
      .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
      .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
      .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "),
];

/** All hunks, from the top down, each below the one before. Line endings and what no hunk speaks of stay as they are. */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const ending = lines.some((line) => line.endsWith("\r")) ? "\r" : "";
  const bare = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const changes: { readonly from: number; readonly to: number; readonly lines: readonly string[] }[] = [];
  let cursor = 0;
  let loose = false;
  for (const [index, hunk] of hunks.entries()) {
    for (const anchor of hunk.anchors) {
      const found = seek(bare, [anchor], { from: cursor, atEnd: false }) ?? seek(bare, [anchor], { from: 0, atEnd: false });
      if (!found) return { type: "misfit", hunk: index + 1, missing: "anchor", wanted: [anchor] };
      cursor = Math.max(cursor, found.at + 1);
    }
    const { before, after } = withoutLastEmpty(bare, hunk, cursor);
    if (before.length === 0) {
      const at = hunk.anchors.length > 0 && !hunk.atEnd ? cursor : bare.length;
      changes.push({ from: at, to: at, lines: after });
      cursor = at;
      continue;
    }
    const found = seek(bare, before, { from: cursor, atEnd: hunk.atEnd }) ?? onlyPlace(bare, before, cursor);
    if (!found) return { type: "misfit", hunk: index + 1, missing: "lines", wanted: before };
    loose ||= found.way > 1;
    changes.push(keepingLines(bare, { at: found.at, before, after }));
    cursor = found.at + before.length;
  }
  changes.sort((left, right) => left.from - right.from);
  if (changes.some((change, index) => change.from < (changes[index - 1]?.to ?? 0)))
    return { type: "misfit", hunk: hunks.length, missing: "lines", wanted: hunks.at(-1)?.before ?? [] };
  return { type: "applied", ...put(text, { lines, ending, changes }), loose };
}

type Found = { readonly at: number; readonly way: number };

function seek(
  lines: readonly string[],
  wanted: readonly string[],
  { from, atEnd }: { from: number; atEnd: boolean },
): Found | undefined {
  const last = lines.length - wanted.length;
  for (const [way, same] of ways.entries()) {
    const folded = lines.map(same);
    const sought = wanted.map(same);
    const fits = (at: number): boolean => sought.every((line, offset) => folded[at + offset] === line);
    if (atEnd && last >= from && fits(last)) return { at: last, way };
    for (let at = from; at <= last; at++) if (fits(at)) return { at, way };
  }
  return undefined;
}

/** Hunks that stand in another order than the file: above the cursor, where there is one such place only. */
function onlyPlace(lines: readonly string[], wanted: readonly string[], cursor: number): Found | undefined {
  const found = seek(lines.slice(0, cursor), wanted, { from: 0, atEnd: false });
  return found && !seek(lines.slice(0, cursor), wanted, { from: found.at + 1, atEnd: false }) ? found : undefined;
}

/** An empty line at the end of a hunk is often only the end of the patch. */
function withoutLastEmpty(lines: readonly string[], hunk: Hunk, cursor: number): Pick<Hunk, "before" | "after"> {
  const { before, after } = hunk;
  if (before.at(-1) !== "" || after.at(-1) !== "") return hunk;
  if (seek(lines, before, { from: cursor, atEnd: hunk.atEnd })) return hunk;
  return { before: before.slice(0, -1), after: after.slice(0, -1) };
}

/** Lines that stay are those of the file, also where the patch has other white space. */
function keepingLines(
  lines: readonly string[],
  { at, before, after }: { at: number; before: readonly string[]; after: readonly string[] },
): { from: number; to: number; lines: readonly string[] } {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const inner = after.slice(start, after.length - end);
  const own = new Map(before.map((line, index) => [line, lines[at + index] ?? line]));
  return { from: at + start, to: at + before.length - end, lines: inner.map((line) => own.get(line) ?? line) };
}

function put(
  text: string,
  {
    lines,
    ending,
    changes,
  }: { lines: readonly string[]; ending: string; changes: readonly { from: number; to: number; lines: readonly string[] }[] },
): { readonly text: string; readonly lines: readonly number[] } {
  const made: string[] = [];
  const places: number[] = [];
  let at = 0;
  for (const change of changes) {
    made.push(...lines.slice(at, change.from));
    places.push(made.length + 1);
    made.push(...change.lines.map((line) => `${line}${ending}`));
    at = change.to;
  }
  made.push(...lines.slice(at));
  const touchesEnd = changes.some(({ to, lines: fresh }) => to >= lines.length && fresh.length > 0);
  const hasEnd = text === "" || text.endsWith("\n") || touchesEnd;
  return { text: made.length === 0 ? "" : made.join("\n") + (hasEnd ? "\n" : ""), lines: places };
}
