import type { DiffRow, FileEdit } from "./run-model.ts";

type NumberedEdit = { readonly step: number; readonly edit: FileEdit };
type Written = { readonly text: string; readonly step: number };
/** The file as it is after some edits: lines it had at first (`kept`, by their numbers then), and lines that edits wrote. */
type Piece = { readonly type: "kept"; readonly from: number; readonly count: number } | ({ readonly type: "written" } & Written);

/** What all edits of a file came to, and which steps the lines are of that are there now. */
export type FinalDiff = { readonly edit: FileEdit; readonly steps: readonly number[] };

const contextLines = 3;

/**
 * One diff of several that followed each other. Undefined where that cannot be known: a diff that was cut or has no numbers, or a file that
 * somebody else changed in between.
 */
export function finalDiff(edits: readonly NumberedEdit[]): FinalDiff | undefined {
  const [first] = edits;
  const last = edits.at(-1);
  if (!first || !last) return undefined;
  const known = new Map<number, string>();
  let pieces: Piece[] = first.edit.created ? [] : [{ type: "kept", from: 1, count: Number.POSITIVE_INFINITY }];
  try {
    for (const { step, edit } of edits) pieces = apply(pieces, { edit, step, known });
    const { rows, steps } = toRows(pieces, known);
    const count = (sign: DiffRow["sign"]): number => rows.filter((row) => row.sign === sign).length;
    const { path } = first.edit;
    const { created } = first.edit;
    const { gone } = last.edit;
    return {
      steps,
      edit: { path, rows, added: count("+"), removed: count("-"), ...(created && { created }), ...(gone && { gone }) },
    };
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}

/** The diffs do not fit together, or do not say enough. */
class Unknown extends Error {}

type Applied = { readonly edit: FileEdit; readonly step: number; readonly known: Map<number, string> };

function apply(pieces: readonly Piece[], { edit, step, known }: Applied): Piece[] {
  const reader = new PieceReader(pieces, known);
  for (const { sign, text } of edit.rows) {
    if (sign === "@") reader.goTo(hunkStart(text));
    else if (sign === "+") reader.write({ text, step });
    else reader.see(text, sign === " ");
  }
  if (edit.rows.length > 0 && edit.rows[0]?.sign !== "@") throw new Unknown("no numbers");
  return reader.rest();
}

/** How many lines of the old file stand before the hunk. */
function hunkStart(text: string): number {
  const [, from, count] = /^@@ -(\d+),(\d+) /.exec(text) ?? [];
  if (from === undefined || count === undefined) throw new Unknown("cut");
  return count === "0" ? Number(from) : Number(from) - 1;
}

class PieceReader {
  readonly #left: Piece[];
  readonly #known: Map<number, string>;
  readonly #done: Piece[] = [];
  #read = 0;

  constructor(pieces: readonly Piece[], known: Map<number, string>) {
    this.#left = [...pieces];
    this.#known = known;
  }

  goTo(line: number): void {
    while (this.#read < line) {
      const piece = this.#left.shift();
      if (!piece) throw new Unknown("shorter than it should be");
      const size = piece.type === "kept" ? Math.min(piece.count, line - this.#read) : 1;
      this.#read += size;
      if (piece.type === "kept" && size < piece.count) {
        this.#left.unshift({ type: "kept", from: piece.from + size, count: piece.count - size });
        this.#done.push({ ...piece, count: size });
      } else this.#done.push(piece);
    }
  }

  /** The next line is this one; it stays, or it goes. */
  see(text: string, stays: boolean): void {
    const piece = this.#left.shift();
    if (!piece) throw new Unknown("shorter than it should be");
    if (piece.type === "kept" && piece.count > 1)
      this.#left.unshift({ type: "kept", from: piece.from + 1, count: piece.count - 1 });
    const before = piece.type === "kept" ? (this.#known.get(piece.from) ?? text) : piece.text;
    if (before !== text) throw new Unknown("changed in between");
    if (piece.type === "kept") this.#known.set(piece.from, text);
    if (stays) this.#done.push(piece.type === "kept" ? { ...piece, count: 1 } : piece);
    this.#read++;
  }

  write(line: Written): void {
    this.#done.push({ type: "written", ...line });
  }

  rest(): Piece[] {
    return [...this.#done, ...this.#left];
  }
}

/** Lines that went and lines that came in their place. */
type Block = { readonly start: number; readonly removed: readonly string[]; readonly added: readonly Written[] };

function toRows(pieces: readonly Piece[], known: ReadonlyMap<number, string>): { rows: DiffRow[]; steps: number[] } {
  const rows: DiffRow[] = [];
  const steps = new Set<number>();
  let shift = 0;
  let told = 0; // lines of the old file that stand in the rows already
  const context = (from: number, to: number): void => {
    for (let line = from; line <= to; line++) {
      const text = known.get(line);
      if (text === undefined) continue;
      if (line > told + 1 && (told > 0 || rows.length > 0)) rows.push({ sign: "@", text: "" });
      rows.push({ sign: " ", text, line: line + shift });
      told = line;
    }
  };
  for (const block of blocksOf(pieces, known)) {
    const { start, removed, added } = trimmed(block);
    if (removed.length === 0 && added.length === 0) continue;
    const before = start - 1;
    context(Math.max(told + 1, firstKnown(known, before)), before);
    if (told < before && rows.length > 0) rows.push({ sign: "@", text: "" });
    rows.push(...removed.map((text, at) => ({ sign: "-", text, line: start + at }) as const));
    rows.push(...added.map(({ text }, at) => ({ sign: "+", text, line: start + shift + at }) as const));
    for (const { step } of added) steps.add(step);
    told = before + removed.length;
    shift += added.length - removed.length;
    context(told + 1, lastKnown(known, told));
  }
  return { rows, steps: [...steps].sort((one, other) => one - other) };
}

function firstKnown(known: ReadonlyMap<number, string>, line: number): number {
  let first = line + 1;
  while (first > 1 && line - first + 1 < contextLines && known.has(first - 1)) first--;
  return first;
}

function lastKnown(known: ReadonlyMap<number, string>, line: number): number {
  let last = line;
  while (last - line < contextLines && known.has(last + 1)) last++;
  return last;
}

function* blocksOf(pieces: readonly Piece[], known: ReadonlyMap<number, string>): Iterable<Block> {
  let next = 1;
  let added: Written[] = [];
  const blockTo = (end: number): Block => {
    const removed = Array.from({ length: end - next }, (_, at) => {
      const text = known.get(next + at);
      if (text === undefined) throw new Unknown("a line went that nobody has seen");
      return text;
    });
    return { start: next, removed, added };
  };
  for (const piece of pieces) {
    if (piece.type === "written") {
      added.push(piece);
      continue;
    }
    yield blockTo(piece.from);
    added = [];
    next = piece.from + piece.count;
  }
  const end = Math.max(next, ...[...known.keys()].map((line) => line + 1));
  if (Number.isFinite(next)) yield blockTo(end);
  else if (added.length > 0) yield { start: end, removed: [], added };
}

/** What went and came back as it was has not changed. */
function trimmed({ start, removed, added }: Block): Block {
  let head = 0;
  while (head < removed.length && removed[head] === added[head]?.text) head++;
  let tail = 0;
  while (tail < Math.min(removed.length, added.length) - head && removed.at(-1 - tail) === added.at(-1 - tail)?.text) tail++;
  return {
    start: start + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail),
  };
}
