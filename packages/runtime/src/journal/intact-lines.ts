import { closeSync, fstatSync, openSync } from "node:fs";
import { type CheckedBlocks, readFully } from "./checked-blocks.ts";
import { readLineMap } from "./line-map.ts";
import type { LineTable } from "./line-table.ts";
import { type Chain, readSealed } from "./sealed-line.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";

/** `isWhole`: nothing stands behind them. `blocks`: what a map told of, with `mapped` lines; `rest`: the bytes behind that. */
export type IntactLines = {
  blocks: CheckedBlocks | undefined;
  rest: Buffer;
  end: number;
  chain: Chain;
  isWhole: boolean;
  mapped: number;
};

/** What is shorter has no map: a line is hardly shorter than a hundred bytes. */
const leastMapped = 100_000;

/** What is longer is read on in pieces. */
const longestPart: number = 64 << 20;

/**
 * The beginning of a log up to the first thing that is no sealed line following from the one before: nearly always all of it. Whoever goes on
 * with a long session waits for this, so that it does for each line only what must be done. No file is an empty one.
 */
export function readIntactLines(path: string, lines: LineTable): IntactLines {
  const file = openIfThere(path);
  if (file === undefined) return { ...nothing, chain: { crc: 0, sealed: false, seq: 0 } };
  try {
    const { size } = fstatSync(file);
    const map = size < leastMapped ? undefined : readLineMap(path);
    if (map) lines.adopt(map);
    const mapped = lines.length;
    const { end: base, crc: before, blocks } = map ?? { end: 0, crc: 0, blocks: undefined };
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(size, longestPart) - base));
    const rest = bytes.subarray(0, readFully(file, bytes, base));
    const { length, crc } = addLines(rest, before, lines);
    const end = base + length;
    const isWhole = length === rest.length && end < longestPart;
    const chain = { crc, sealed: lines.length > 0, seq: lines.seqAt(lines.length - 1) };
    return { blocks, rest, end, isWhole, mapped, chain };
  } catch (error) {
    throw toStorageFailure("read", path, error);
  } finally {
    closeSync(file);
  }
}

const nothing = { blocks: undefined, rest: Buffer.alloc(0), end: 0, isWhole: true, mapped: 0 };

/** Answers how many bytes they take, and the checksum in the last of them. */
function addLines(bytes: Buffer, before: number, lines: LineTable): { length: number; crc: number } {
  const text = bytes.toString("latin1");
  const log = { bytes, text };
  let crc = before;
  let length = 0;
  for (let lf = text.indexOf("\n"); lf !== -1; lf = text.indexOf("\n", length)) {
    const sealed = readSealed(log, { start: length, end: lf, previous: crc });
    if (typeof sealed === "string") break;
    lines.add(sealed.line);
    crc = sealed.crc;
    length = lf + 1;
  }
  return { length, crc };
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toStorageFailure("read", path, error);
  }
}
