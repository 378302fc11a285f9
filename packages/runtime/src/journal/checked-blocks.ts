import { closeSync, openSync, readSync } from "node:fs";
import { RuntimeError } from "../protocol/errors.ts";
import { toStorageFailure } from "./storage-failure.ts";
import { crc32 } from "../util/crc32.ts";

/** What one checksum is over. */
export const blockSize: number = 1 << 18;

/**
 * The beginning of a file, with a checksum for each block of it. A long log is looked through when it is opened and not held: what is wanted
 * of it later is read again, and checked again, so that nothing is believed that was changed meanwhile.
 */
export class CheckedBlocks {
  readonly #path: string;
  readonly #length: number;
  readonly checksums: readonly number[];
  /** The one that was read last: whoever reads a line mostly reads the one beside it next. */
  #recent: { readonly number: number; readonly bytes: Buffer } | undefined;
  /** One for all blocks: memory that was never used before takes longer to get than the bytes to read. */
  #buffer: Buffer | undefined;

  constructor(path: string, length: number, checksums: readonly number[]) {
    this.#path = path;
    this.#length = length;
    this.checksums = checksums;
  }

  /** Is every byte as it was? */
  areIntact(): boolean {
    const buffer = Buffer.allocUnsafeSlow(blockSize);
    return this.#withFile((file) => {
      for (let number = 0; number * blockSize < this.#length; number++) if (!this.#read(file, number, buffer)) return false;
      return true;
    });
  }

  /** The bytes between two places, good until the next call; rejects those that are not as they were. */
  read(start: number, end: number): Buffer {
    const { bytes, begin } = this.find(start, end);
    return bytes.subarray(begin, begin + end - start);
  }

  /** The same as a part of more bytes, which begins at `begin`: a view of its own for each of very many takes longer than to read it. */
  find(start: number, end: number): { readonly bytes: Buffer; readonly begin: number } {
    const first = Math.floor(start / blockSize);
    const begin = start - first * blockSize;
    if (end <= (first + 1) * blockSize) return { bytes: this.#block(first), begin };
    return { bytes: this.#join(start, end), begin: 0 };
  }

  #join(start: number, end: number): Buffer {
    const first = Math.floor(start / blockSize);
    const begin = start - first * blockSize;
    const bytes = Buffer.allocUnsafe(end - start);
    let filled = this.#block(first).copy(bytes, 0, begin);
    for (let number = first + 1; filled < bytes.length; number++) filled += this.#block(number).copy(bytes, filled);
    return bytes;
  }

  #block(number: number): Buffer {
    if (this.#recent?.number === number) return this.#recent.bytes;
    this.#recent = undefined;
    this.#buffer ??= Buffer.allocUnsafeSlow(blockSize);
    const buffer = this.#buffer;
    const bytes = this.#withFile((file) => this.#read(file, number, buffer));
    if (!bytes)
      throw new RuntimeError("storage-failed", `${this.#path} was changed by somebody else while its session was open`, {
        hint: "Open the session again: what can be read of it is gone on with",
      });
    this.#recent = { number, bytes };
    return bytes;
  }

  #read(file: number, number: number, buffer: Buffer): Buffer | undefined {
    const start = number * blockSize;
    const bytes = buffer.subarray(0, Math.min(blockSize, this.#length - start));
    return readFully(file, bytes, start) === bytes.length && crc32(bytes) === this.checksums[number] ? bytes : undefined;
  }

  #withFile<T>(use: (file: number) => T): T {
    let file: number | undefined;
    try {
      file = openSync(this.#path, "r");
      return use(file);
    } catch (error) {
      throw toStorageFailure("read", this.#path, error);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

/** The checksums of bytes that begin where a block does. */
export function blockChecksums(bytes: Buffer): number[] {
  const checksums: number[] = [];
  for (let start = 0; start < bytes.length; start += blockSize) checksums.push(crc32(bytes.subarray(start, start + blockSize)));
  return checksums;
}

/** Answers how many bytes there were. */
export function readFully(file: number, bytes: Buffer, from: number): number {
  let filled = 0;
  for (let read = -1; filled < bytes.length && read !== 0; filled += read)
    read = readSync(file, bytes, filled, bytes.length - filled, from + filled);
  return filled;
}
