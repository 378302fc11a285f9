import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type Chain, readSealed, type StoredLine } from "./sealed-line.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";

/** `isWhole`: nothing stands behind them. */
export type IntactLines = { lines: StoredLine[]; end: number; chain: Chain; isWhole: boolean };

/** What is longer is read on in pieces. */
const longestPart: number = 64 << 20;

/**
 * The beginning of a log up to the first thing that is no sealed line following from the one before: nearly always all of it. Whoever goes on
 * with a long session waits for this, so that it does for each line only what must be done. No file is an empty one.
 */
export function readIntactLines(path: string): IntactLines {
  const bytes = readBeginning(path);
  const text = bytes.toString("latin1");
  const lines: StoredLine[] = [];
  let crc = 0;
  let end = 0;
  for (let lf = text.indexOf("\n"); lf !== -1; lf = text.indexOf("\n", end)) {
    const sealed = readSealed({ bytes, text }, { start: end, end: lf, previous: crc });
    if (typeof sealed === "string") break;
    lines.push(sealed.line);
    crc = sealed.crc;
    end = lf + 1;
  }
  return {
    lines,
    end,
    isWhole: end === bytes.length && end < longestPart,
    chain: { crc, sealed: lines.length > 0, seq: lines.at(-1)?.seq ?? 0 },
  };
}

function readBeginning(path: string): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.allocUnsafe(Math.min(fstatSync(file).size, longestPart));
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
