import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readLineMap } from "./line-map.ts";
import type { LineTable } from "./line-table.ts";
import { type Chain, readSealed } from "./sealed-line.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";

/** `isWhole`: nothing stands behind them. `mapped`: how many of them a map told of. */
export type IntactLines = { bytes: Buffer; end: number; chain: Chain; isWhole: boolean; mapped: number };

/** What is shorter has no map: a line is hardly shorter than a hundred bytes. */
const leastMapped = 100_000;

/** What is longer is read on in pieces. */
const longestPart: number = 64 << 20;

/**
 * The beginning of a log up to the first thing that is no sealed line following from the one before: nearly always all of it. Whoever goes on
 * with a long session waits for this, so that it does for each line only what must be done. No file is an empty one.
 */
export function readIntactLines(path: string, lines: LineTable): IntactLines {
  const bytes = readBeginning(path);
  const map = bytes.length < leastMapped ? undefined : readLineMap(path, bytes);
  if (map) lines.adopt(bytes, map);
  const mapped = lines.length;
  const { end: base, crc: before } = map ?? { end: 0, crc: 0 };
  const rest = bytes.subarray(base);
  const text = rest.toString("latin1");
  const log = { bytes: rest, text };
  let crc = before;
  let end = 0;
  for (let lf = text.indexOf("\n"); lf !== -1; lf = text.indexOf("\n", end)) {
    const sealed = readSealed(log, { start: end, end: lf, previous: crc });
    if (typeof sealed === "string") break;
    lines.add(sealed.line);
    crc = sealed.crc;
    end = lf + 1;
  }
  end += base;
  const isWhole = end === bytes.length && end < longestPart;
  return { bytes, end, isWhole, mapped, chain: { crc, sealed: lines.length > 0, seq: lines.seqAt(lines.length - 1) } };
}

function readBeginning(path: string): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.allocUnsafeSlow(Math.min(fstatSync(file).size, longestPart));
    let filled = 0;
    for (let read = -1; filled < bytes.length && read !== 0; filled += read)
      read = readSync(file, bytes, filled, bytes.length - filled, filled);
    return bytes.subarray(0, filled);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return Buffer.alloc(0);
    throw toStorageFailure("read", path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
