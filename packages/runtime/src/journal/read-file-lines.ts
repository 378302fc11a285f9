import type { FileHandle } from "node:fs/promises";
import { longestLine } from "./seal-lines.ts";

/** `bytes` is without the LF and is only good until the next line is asked for. A line too long to be held has no bytes. */
export type FileLine = { bytes: Buffer | undefined; start: number; end: number; terminated: boolean };

const largestFirst = 1 << 20;

/** Every line from byte `from` on, in one pass with one buffer: the file may be larger than the memory. */
export async function readFileLines(file: FileHandle, from: number, onLine: (line: FileLine) => void): Promise<void> {
  const { size } = await file.stat();
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(largestFirst, Math.max(size - from, 0) + 1));
  let filled = 0;
  let searched = 0;
  let start = from; // of the line that stands at the front of the buffer
  let skipped = 0; // bytes of a line that is too long to be kept
  for (;;) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + skipped + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
    let front = 0;
    for (let lf = indexOfLf(buffer, searched, filled); lf !== -1; lf = indexOfLf(buffer, front, filled)) {
      const end = start + skipped + lf - front + 1;
      onLine({ bytes: skipped > 0 ? undefined : buffer.subarray(front, lf), start, end, terminated: true });
      front = lf + 1;
      start = end;
      skipped = 0;
    }
    buffer.copyWithin(0, front, filled);
    filled -= front;
    if (skipped > 0 || filled >= longestLine) {
      skipped += filled;
      filled = 0;
    }
    searched = filled;
    if (filled === buffer.length) buffer = grown(buffer);
  }
  const length = skipped + filled;
  if (length > 0)
    onLine({ bytes: skipped > 0 ? undefined : buffer.subarray(0, filled), start, end: start + length, terminated: false });
}

function indexOfLf(buffer: Buffer, from: number, to: number): number {
  const index = buffer.indexOf(10, from);
  return index < to ? index : -1; // beyond `to` is what earlier reads left behind
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(buffer.length * 2, longestLine));
  buffer.copy(larger);
  return larger;
}
