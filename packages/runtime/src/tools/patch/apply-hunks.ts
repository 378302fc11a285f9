import { readIndentation } from "../indentation.ts";
import type { Hunk } from "./parse-patch.ts";

/** `lines` are where the changed places are now, counted from 1. */
export type Applied =
  | { readonly type: "applied"; readonly text: string; readonly lines: readonly number[]; readonly loose: boolean }
  | Refused;

/** Why hunk number `hunk` cannot be applied. Lines are counted from 1. */
export type Refused = { readonly hunk: number } & (
  | { readonly type: "misfit"; readonly missing: "anchor" | "lines"; readonly wanted: readonly string[] }
  /** It fits in more places than one. */
  | { readonly type: "ambiguous"; readonly lines: readonly number[] }
  /** It fits but for the indentation, which differs from line to line. */
  | { readonly type: "uneven"; readonly line: number; readonly wanted: readonly string[] }
);

/** Ways in which two lines are the same, the strictest first. In the last one all that looks alike counts: a better fit is still a guess. */
const ways: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) =>
    line
      .trim()
      .replace(/[\u2010-\u2015\u2212]/g, "-")
      .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
      .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
      .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "),
];
const loosest = ways.length - 1;

/**
 * All hunks, from the top down, each below the one before. One that fits in several places is refused, never guessed.
 * Line endings and what no hunk speaks of stay as they are.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const bare = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const file: File = { lines, bare, folded: ways.map((same) => bare.map(same)) };
  const changes: Change[] = [];
  let cursor = 0;
  let loose = false;
  for (const [index, hunk] of hunks.entries()) {
    const refuse = { hunk: index + 1 };
    const scopes = scopesOf(file, hunk.anchors, cursor);
    if (typeof scopes === "string") return { ...refuse, type: "misfit", missing: "anchor", wanted: [scopes] };
    const { before, after } = withoutLastEmpty(file, hunk, scopes);
    if (before.length === 0) {
      const places = hunk.anchors.length > 0 && !hunk.atEnd ? scopes.map(({ from }) => from) : [bare.length];
      if (places.length > 1) return { ...refuse, type: "ambiguous", lines: places };
      const [at = bare.length] = places;
      changes.push(changeAt(file, { at, before, after, indent: (line) => line }));
      cursor = Math.max(cursor, at);
      continue;
    }
    const { places, way } = placesOf(file, before, { scopes, atEnd: hunk.atEnd });
    const [at] = places;
    if (at === undefined) return { ...refuse, type: "misfit", missing: "lines", wanted: before };
    if (places.length > 1 && places.length !== alikeFrom(hunks, index))
      return { ...refuse, type: "ambiguous", lines: places.map((place) => place + 1) };
    const indentation =
      way === loosest ? readIndentation(before.map((line, offset) => [line, bare[at + offset] ?? ""])) : undefined;
    const fresh = after.filter(({ stays }) => stays === undefined);
    const isUneven = indentation ? fresh.some((line) => indentation.apply(line.text) === undefined) : way === loosest;
    if (isUneven && fresh.length > 0) return { ...refuse, type: "uneven", line: at + 1, wanted: before };
    loose ||= way === loosest;
    changes.push(changeAt(file, { at, before, after, indent: (line) => indentation?.apply(line) ?? line }));
    cursor = Math.max(cursor, at + before.length);
  }
  changes.sort((left, right) => left.from - right.from);
  if (changes.some((change, index) => change.from < (changes[index - 1]?.to ?? 0)))
    return { type: "misfit", hunk: hunks.length, missing: "lines", wanted: hunks.at(-1)?.before ?? [] };
  return { type: "applied", ...put(text, { lines, changes }), loose };
}

/** `bare` lines are without CR; `folded` are those in each of the ways. */
type File = {
  readonly lines: readonly string[];
  readonly bare: readonly string[];
  readonly folded: readonly (readonly string[])[];
};

type Change = { readonly from: number; readonly to: number; readonly lines: readonly string[] };

/** Where to look: from a line on, and first in what belongs to the anchor above it. */
type Scope = { readonly from: number; readonly blockEnd: number };

/** Below each place the anchors may mean; the anchor that is nowhere otherwise. Anchors above the cursor count where there is none below. */
function scopesOf(file: File, anchors: readonly string[], cursor: number): readonly Scope[] | string {
  let scopes: readonly Scope[] = [{ from: cursor, blockEnd: file.bare.length }];
  for (const anchor of anchors) {
    const below = inScopes(file, [anchor], scopes).places;
    const found = below.length > 0 ? below : fitting(file, [anchor], { from: 0, to: cursor }).places;
    if (found.length === 0) return anchor;
    scopes = found.map((at) => ({ from: at + 1, blockEnd: blockEnd(file.bare, at) }));
  }
  return scopes;
}

/** Where the block below a line ends: at the next line that is indented no deeper, closing brackets and lines without words aside. */
function blockEnd(lines: readonly string[], at: number): number {
  const depth = indentOf(lines[at] ?? "");
  const end = lines.findIndex(
    (line, index) => index > at && indentOf(line) <= depth && /[\p{L}\p{N}]/u.test(line) && !/^\s*[)\]}]/.test(line),
  );
  return end === -1 ? lines.length : end;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

type Places = { readonly places: readonly number[]; readonly way: number };

/** Every place the lines may mean. Hunks that stand in another order than the file are looked for above as well. */
function placesOf(
  file: File,
  wanted: readonly string[],
  { scopes, atEnd }: { readonly scopes: readonly Scope[]; readonly atEnd: boolean },
): Places {
  const last = file.bare.length - wanted.length;
  const first = Math.min(...scopes.map(({ from }) => from));
  const ending = atEnd && last >= first ? fitting(file, wanted, { from: last, to: last + 1 }) : undefined;
  if (ending && ending.places.length > 0) return ending;
  const below = inScopes(file, wanted, scopes);
  return below.places.length > 0 ? below : fitting(file, wanted, { from: 0, to: first - wanted.length + 1 });
}

function inScopes(file: File, wanted: readonly string[], scopes: readonly Scope[]): Places {
  const inBlocks = scopes.map(({ from, blockEnd: to }) => fitting(file, wanted, { from, to }));
  const way = Math.min(...inBlocks.filter(({ places }) => places.length > 0).map((found) => found.way));
  const places = new Set(inBlocks.flatMap((found) => (found.way === way ? found.places : [])));
  if (places.size > 0) return { places: [...places], way };
  return fitting(file, wanted, { from: Math.min(...scopes.map(({ from }) => from)), to: file.bare.length });
}

/** Where the lines fit in the strictest way in which they fit at all. A place begins before `to`. */
function fitting(
  { folded }: File,
  wanted: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Places {
  for (const [way, same] of ways.entries()) {
    const lines = folded[way] ?? [];
    const sought = wanted.map(same);
    const places: number[] = [];
    for (let at = from; at < to && at + sought.length <= lines.length; at++)
      if (sought.every((line, offset) => lines[at + offset] === line)) places.push(at);
    if (places.length > 0) return { places, way };
  }
  return { places: [], way: loosest };
}

/** How many hunks from this one on change the same lines and say nothing else about the place: as many places are all meant. */
function alikeFrom(hunks: readonly Hunk[], index: number): number {
  const wanted = hunks[index]?.before.join("\n");
  const rest = hunks.slice(index);
  const other = rest.findIndex(
    ({ anchors, before, atEnd }, offset) => before.join("\n") !== wanted || atEnd || (offset > 0 && anchors.length > 0),
  );
  return other === -1 ? rest.length : other;
}

/** An empty line at the end of a hunk is often only the end of the patch. */
function withoutLastEmpty(file: File, hunk: Hunk, scopes: readonly Scope[]): Pick<Hunk, "before" | "after"> {
  const { before, after } = hunk;
  if (before.at(-1) !== "" || after.at(-1)?.stays !== before.length - 1) return hunk;
  if (inScopes(file, before, scopes).places.length > 0) return hunk;
  return { before: before.slice(0, -1), after: after.slice(0, -1) };
}

/** Lines that stay are those of the file, also where the patch has other white space or quotation marks. */
function changeAt(
  { lines }: File,
  {
    at,
    before,
    after,
    indent,
  }: Pick<Hunk, "before" | "after"> & { readonly at: number; readonly indent: (line: string) => string },
): Change {
  const ending = lines.some((line) => line.endsWith("\r")) ? "\r" : "";
  let head = 0;
  while (head < after.length && after[head]?.stays === head) head++;
  let tail = 0;
  while (tail < Math.min(after.length, before.length) - head && after.at(-1 - tail)?.stays === before.length - 1 - tail) tail++;
  const inner = after.slice(head, after.length - tail);
  return {
    from: at + head,
    to: at + before.length - tail,
    lines: inner.map(({ text, stays }) => (stays === undefined ? `${indent(text)}${ending}` : (lines[at + stays] ?? text))),
  };
}

function put(
  text: string,
  { lines, changes }: { lines: readonly string[]; changes: readonly Change[] },
): { readonly text: string; readonly lines: readonly number[] } {
  const made: string[] = [];
  const places: number[] = [];
  let at = 0;
  for (const change of changes) {
    made.push(...lines.slice(at, change.from));
    places.push(made.length + 1);
    made.push(...change.lines);
    at = change.to;
  }
  made.push(...lines.slice(at));
  const touchesEnd = changes.some(({ to, lines: fresh }) => to >= lines.length && fresh.length > 0);
  const hasEnd = text === "" || text.endsWith("\n") || touchesEnd;
  return { text: made.length === 0 ? "" : made.join("\n") + (hasEnd ? "\n" : ""), lines: places };
}
