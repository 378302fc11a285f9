import { readFileSync } from "node:fs";
import { CheckedBlocks } from "./checked-blocks.ts";
import type { LineColumns } from "./line-table.ts";
import type { KeptConversation } from "./store.ts";
import { logSuffix } from "./store-place.ts";
import { crc32 } from "../util/crc32.ts";

declare const OUTRIDER_VERSION: string;

/** Where the lines of the beginning of a log are, and how its chain of checksums goes on behind them. */
export type MappedLines = LineColumns & { readonly blocks: CheckedBlocks; readonly crc: number; readonly end: number };

/** What a map begins with; numbers and the conversation follow. */
export type MapHead = {
  format: 2;
  /** The version that made it: another one may read conversations otherwise. */
  version: string;
  /** How long the mapped beginning is, and the checksums of its blocks: it is believed only where the log still begins with these bytes. */
  length: number;
  checksums: number[];
  /** The checksum in its last line. */
  crc: number;
  lines: number;
  types: string[];
  tasks: number[];
  referring: number[];
  ended: number;
  open: (readonly [string, number])[];
};

export const mapVersion: string = OUTRIDER_VERSION;
export const mapFormat = 2;

/**
 * What an earlier reader of this log found out, as far as it still holds. All bytes it tells of are looked at again, by a checksum
 * over each block of them instead of one for each line. Undefined where there is no map, or one that does not fit.
 */
export function readLineMap(path: string): MappedLines | undefined {
  try {
    const map = readFileSync(mapPathOf(path));
    const bodyEnd = map.length - 4;
    if (map.readUInt32LE(bodyEnd) !== crc32(map.subarray(0, bodyEnd))) return undefined;
    const headEnd = map.indexOf(lineFeed) + 1;
    const head = JSON.parse(map.toString("utf8", 0, headEnd)) as MapHead; // its checksum says that we have written it
    if (head.format !== mapFormat || head.version !== mapVersion) return undefined;
    const blocks = new CheckedBlocks(path, head.length, head.checksums);
    if (!blocks.areIntact()) return undefined;
    const { lines, ended } = head;
    const columnsEnd = headEnd + 4 * (3 * lines + 2 * ended);
    const columns = new Uint32Array(map.buffer.slice(map.byteOffset + headEnd, map.byteOffset + columnsEnd));
    const calls = columns.subarray(3 * lines);
    return {
      ...{
        blocks,
        crc: head.crc,
        end: head.length,
        ends: columns.subarray(0, lines),
        headEnds: columns.subarray(lines, 2 * lines),
      },
      ...{ types: columns.subarray(2 * lines, 3 * lines), names: head.types },
      ...{ ofTasks: head.tasks, openCalls: head.open, referring: head.referring },
      endedStarts: Array.from({ length: ended }, (_, call): [number, number] => [calls[2 * call] ?? 0, calls[2 * call + 1] ?? 0]),
      kept: columnsEnd < bodyEnd ? () => toKept(map.toString("utf8", columnsEnd, bodyEnd)) : undefined,
    };
  } catch {
    return undefined; // the log says it all
  }
}

function toKept(json: string): KeptConversation {
  return JSON.parse(json) as KeptConversation; // written by us, and checked with the rest
}

/** Not the ending of a log: those who list logs do not find it. */
export function mapPathOf(path: string): string {
  return path.slice(0, -logSuffix.length) + mapSuffix;
}

export const mapSuffix = ".lines";

const lineFeed = 10;
