import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { makeFolder } from "../../util/make-folder.ts";
import { oneAtATime } from "../../util/one-at-a-time.ts";
import { type LogSource, linesPerPage, toPage } from "./log-lines.ts";
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from "./task-contract.ts";

export type OutputFileOptions = {
  readonly path: string;
  /** Hides secrets. Given whole lines, where the program writes such. */
  readonly mask: (text: string) => string;
  /** Of what comes after this only the end is kept, and the file says so; 64 MiB when absent. */
  readonly maxBytes?: number | undefined;
};

const defaultMaxBytes = 64 * 1024 * 1024;
/** A program that asks a question prints no line end: after this long without one, what there is counts. */
const quietMs = 200;
const marker = "\n[output truncated]\n";
/** How much of the end of a file that was full is written when nothing more comes. */
const tailCharacters = 64 * 1024;

/** Everything a program prints, in a file, so that memory stays bounded and a reader may come back to any place. */
export class OutputFile {
  readonly path: string;
  readonly #options: OutputFileOptions;
  readonly #decoder = new StringDecoder("utf8");
  readonly #inOrder = oneAtATime();
  readonly #onGrowth = new Set<() => void>();
  /** Where every page of lines begins. */
  readonly #pages: number[] = [0];
  #file: FileHandle | undefined;
  #rest = "";
  #timer: NodeJS.Timeout | undefined;
  #size = 0;
  #lines = 0;
  #endsInLine = false;
  #isFull = false;
  /** The last that came when it was full, and how much came before it. */
  #tail = "";
  #leftOut = 0;
  #isOpen = true;

  constructor(options: OutputFileOptions) {
    this.path = options.path;
    this.#options = options;
  }

  /** Bytes that can be read. */
  get size(): number {
    return this.#size;
  }

  /** Settles when it is on disk: whoever prints faster than that waits. */
  append(bytes: Uint8Array): Promise<void> {
    const text = this.#rest + this.#decoder.write(Buffer.from(bytes));
    const end = text.lastIndexOf("\n") + 1;
    this.#rest = text.slice(end);
    clearTimeout(this.#timer);
    if (this.#rest !== "") this.#timer = setTimeout(() => void this.#flushRest().catch(() => {}), quietMs);
    return this.#write(text.slice(0, end));
  }

  /** Nothing more comes; `lastWords` say how it ended. */
  async end(lastWords?: string): Promise<void> {
    clearTimeout(this.#timer);
    this.#rest += this.#decoder.end();
    await this.#flushRest();
    if (this.#tail !== "") await this.#inOrder(() => this.#put(this.#lastOfAll()));
    if (lastWords !== undefined) await this.#inOrder(() => this.#put(`${this.#endsInLine ? "\n" : ""}\n${lastWords}\n`));
    await this.#inOrder(async () => {
      this.#isOpen = false;
      await this.#file?.close();
      this.#file = undefined;
    });
    this.#tell();
  }

  /** From this byte on, at most so many; `next` is where to read on. */
  async read(from: number, maxBytes: number): Promise<{ readonly text: string; readonly next: number }> {
    const length = Math.min(maxBytes, this.#size - from);
    if (length <= 0) return { text: "", next: Math.max(from, 0) };
    const file = await open(this.path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
      const text = new StringDecoder("utf8").write(buffer.subarray(0, bytesRead)); // without half a character at the end
      return { text, next: from + (Buffer.byteLength(text) || bytesRead) };
    } finally {
      await file.close();
    }
  }

  /** Lines that name their source, a page of them. */
  async page(taskId: string, source: LogSource, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    const offset = Math.max(0, Math.trunc(cursor?.offset ?? 0));
    const total = this.#lines + (!this.#isOpen && this.#endsInLine ? 1 : 0);
    const lines = offset < total ? await this.#readLines(offset, Math.min(linesPerPage, total - offset)) : [];
    const prefixed = lines.map((line) => `[${source}] ${line}`);
    return toPage({ taskId, offset: Math.min(offset, total), lines: prefixed, total, isOpen: this.#isOpen }, cursor);
  }

  /** Calls back after each growth and at the end, until the answered function is called. */
  onGrowth(listener: () => void): () => void {
    this.#onGrowth.add(listener);
    return () => this.#onGrowth.delete(listener);
  }

  async #readLines(offset: number, count: number): Promise<string[]> {
    const start = this.#pages[Math.floor(offset / linesPerPage)] ?? 0;
    const end = this.#pages[Math.floor((offset + count - 1) / linesPerPage) + 1] ?? this.#size;
    const { text } = await this.read(start, end - start);
    const first = offset % linesPerPage;
    return text.split("\n").slice(first, first + count);
  }

  #flushRest(): Promise<void> {
    const text = this.#rest;
    this.#rest = "";
    return this.#write(text);
  }

  #write(text: string): Promise<void> {
    if (text === "") return Promise.resolve();
    return this.#inOrder(async () => {
      const { mask, maxBytes = defaultMaxBytes } = this.#options;
      const shown = mask(text);
      if (this.#isFull) return this.#keepEnd(shown);
      this.#isFull = this.#size + Buffer.byteLength(shown) > maxBytes;
      const fitting = this.#isFull ? cutTo(shown, maxBytes - this.#size) : shown;
      await this.#put(this.#isFull ? fitting + marker : fitting);
      this.#keepEnd(shown.slice(fitting.length));
      this.#tell();
    });
  }

  #keepEnd(text: string): void {
    this.#tail += text;
    if (this.#tail.length < 2 * tailCharacters) return; // not with every line
    this.#leftOut += Buffer.byteLength(this.#tail.slice(0, -tailCharacters));
    this.#tail = this.#tail.slice(-tailCharacters);
  }

  /** From a whole line on, where it has one. */
  #lastOfAll(): string {
    const start = this.#leftOut === 0 ? 0 : this.#tail.indexOf("\n") + 1;
    const note = this.#leftOut === 0 ? "" : `[${this.#leftOut + Buffer.byteLength(this.#tail.slice(0, start))} bytes left out]\n`;
    return note + this.#tail.slice(start);
  }

  async #put(text: string): Promise<void> {
    if (!this.#file) {
      makeFolder(dirname(this.path));
      this.#file = await open(this.path, "a", 0o600);
    }
    const bytes = Buffer.from(text);
    await this.#file.appendFile(bytes);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
      this.#lines++;
      if (this.#lines % linesPerPage === 0) this.#pages.push(this.#size + at + 1);
    }
    this.#size += bytes.length;
    if (bytes.length > 0) this.#endsInLine = bytes.at(-1) !== 10;
  }

  #tell(): void {
    for (const listener of [...this.#onGrowth]) listener();
  }
}

function cutTo(text: string, bytes: number): string {
  return new StringDecoder("utf8").write(Buffer.from(text).subarray(0, Math.max(0, bytes)));
}
