import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "@outrider/runtime/host";

/**
 * An append-only file of JSON lines with one writer. A line that is written survives the end of the process; after `sync` it survives that of
 * the machine. What a cut-off write left at the end is dropped when the file is opened.
 */
export class AppendLog<T> {
  readonly #file: number;
  #end: number;
  #isClosed = false;

  private constructor(file: number, end: number) {
    this.#file = file;
    this.#end = end;
  }

  static open<T>(path: string): { log: AppendLog<T>; records: T[] } {
    makeFolder(dirname(path), 0o777);
    const file = openSync(path, "a+", 0o600);
    const { records, end } = readRecords<T>(file);
    ftruncateSync(file, end);
    return { log: new AppendLog(file, end), records };
  }

  append(record: T): void {
    if (this.#isClosed) throw new Error("The log is closed");
    const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written);
      this.#end += bytes.length;
    } catch (error) {
      ftruncateSync(this.#file, this.#end); // half a line would swallow the next one
      throw error;
    }
  }

  async sync(): Promise<void> {
    await new Promise<void>((resolve, reject) => fdatasync(this.#file, (error) => (error ? reject(error) : resolve())));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#file);
  }
}

/** What a log holds now, for whoever does not write it. Nothing where there is no such file. */
export function readLog<T>(path: string): T[] {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // looked at only
    throw error;
  }
  try {
    return readRecords<T>(file).records;
  } finally {
    closeSync(file);
  }
}

/** Whole lines only. One that is no JSON in the middle was never ours to write: it is passed over. */
function readRecords<T>(file: number): { records: T[]; end: number } {
  const bytes = Buffer.alloc(fstatSync(file).size);
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(file, bytes, length, bytes.length - length, length);
    if (read === 0) break;
    length += read;
  }
  const end = bytes.subarray(0, length).lastIndexOf(10) + 1;
  const records: T[] = [];
  for (const line of bytes.toString("utf8", 0, end).split("\n")) {
    if (line === "") continue;
    try {
      records.push(JSON.parse(line) as T); // of our own writing
    } catch {}
  }
  return { records, end };
}
