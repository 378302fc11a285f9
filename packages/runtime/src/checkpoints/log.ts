import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFileSync } from "../util/replace-file.ts";
import { syncFolder } from "../util/sync-folder.ts";
import { type CheckpointRecord, parseRecordLine, toRecordLine } from "./record.ts";
import { storageFailure } from "./storage-failure.ts";
import { makeFolder } from "../util/make-folder.ts";

export type LoggedRecords = {
  readonly records: readonly CheckpointRecord[];
  /** Whole lines that cannot be trusted. A torn last line is not among them: what it was written for never happened. */
  readonly damaged: number;
};

/**
 * Appends whole lines, or nothing. Call with the session's lock. Synchronous but for the reading: a line of a few hundred bytes
 * is written in less time than the thread pool takes to answer.
 */
export async function appendRecords(path: string, records: readonly CheckpointRecord[], sync: boolean): Promise<void> {
  const bytes = Buffer.from(records.map(toRecordLine).join(""));
  try {
    makeFolder(dirname(path));
    const file = openSync(path, "a+", 0o600);
    try {
      const size = endOfLastLine(file);
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
        if (sync) fsyncSync(file);
      } catch (error) {
        ftruncateSync(file, size); // else the next line would join the half of this one
        throw error;
      }
      if (sync && size === 0) await syncFolder(dirname(path));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw storageFailure(`The checkpoint log ${path} cannot be written`, error);
  }
}

/** Never rejects for what the file holds; empty when there is none. */
export async function readRecords(path: string): Promise<LoggedRecords> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return Buffer.alloc(0);
    throw storageFailure(`The checkpoint log ${path} cannot be read`, error);
  });
  const lines = bytes.toString("utf8").split("\n").slice(0, -1);
  const records = lines.map(parseRecordLine).filter((record) => record !== undefined);
  return { records, damaged: lines.length - records.length };
}

/** The end of the log alone, which is all that a new record needs to know. */
export async function readLastRecord(path: string): Promise<CheckpointRecord | undefined> {
  const tail = readTail(path);
  if (tail === undefined) return undefined;
  const lines = tail.text.split("\n").slice(tail.whole ? 0 : 1, -1);
  for (const line of lines.reverse()) {
    const record = parseRecordLine(line);
    if (record) return record;
  }
  return tail.whole ? undefined : (await readRecords(path)).records.at(-1);
}

/** Puts `records` in the place of the whole log; readers see the old one or the new one. Call with the session's lock. */
export async function replaceRecords(path: string, records: readonly CheckpointRecord[]): Promise<void> {
  try {
    replaceFileSync(path, records.map(toRecordLine).join(""), { isLasting: true });
    await syncFolder(dirname(path));
  } catch (error) {
    throw storageFailure(`The checkpoint log ${path} cannot be shortened`, error);
  }
}

/** Cuts off what a crash left of a line, and answers where the next one starts. */
function endOfLastLine(file: number): number {
  const { size } = fstatSync(file);
  const piece = Buffer.alloc(4096);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - piece.length);
    const read = readSync(file, piece, 0, end - start, start);
    const newline = piece.subarray(0, read).lastIndexOf(10);
    const lineEnd = start + newline + 1;
    if (newline !== -1) {
      if (lineEnd < size) ftruncateSync(file, lineEnd);
      return lineEnd;
    }
    end = start;
  }
  if (size > 0) ftruncateSync(file, 0);
  return 0;
}

const tailBytes = 64 * 1024;

function readTail(path: string): { text: string; whole: boolean } | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // fs throws nothing else
    throw storageFailure(`The checkpoint log ${path} cannot be read`, error);
  }
  try {
    const { size } = fstatSync(file);
    const start = Math.max(0, size - tailBytes);
    const bytes = Buffer.alloc(size - start);
    const read = readSync(file, bytes, 0, bytes.length, start);
    return { text: bytes.toString("utf8", 0, read), whole: start === 0 };
  } finally {
    closeSync(file);
  }
}
