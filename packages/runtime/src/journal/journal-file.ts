import { closeSync, fdatasync, ftruncateSync, writeSync } from "node:fs";
import type { AgentEvent } from "../protocol/events.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { toSafeJson } from "../util/jsonl.ts";
import { largeValueLength, mentionsReferences } from "./large-values.ts";
import type { Lock } from "./lock.ts";
import { sealLines } from "./seal-lines.ts";
import type { SideFiles } from "./side-files.ts";
import { toStorageFailure } from "./storage-failure.ts";
import { syncFolder } from "../util/sync-folder.ts";

/**
 * What an acknowledged event survives. All of them: the end of the process, `kill -9` included.
 * - `always`: a power cut too. Every append waits for the disk; appends that wait together share one wait.
 * - `batch`: a power cut takes at most what was appended in its last 50 ms, never a turn or a session that has ended.
 * - `never`: after a power cut the log opens at its longest valid prefix, whatever the system had written by then.
 */
export type SyncPolicy = "always" | "batch" | "never";

const batchMs = 50;

/** What the log asks of the operating system; tests put a failing disk here. */
export interface FileOperations {
  /** Answers how much of it was taken. */
  write(file: number, bytes: Uint8Array): number;
  truncate(file: number, length: number): void;
  sync(file: number): Promise<void>;
}

export const systemFiles: FileOperations = {
  // Into the page cache: microseconds, where the thread pool alone takes ten times as long.
  write: (file, bytes) => writeSync(file, bytes),
  truncate: ftruncateSync,
  sync: (file) =>
    new Promise((resolve, reject) => {
      fdatasync(file, (error) => (error ? reject(error) : resolve()));
    }),
};

export type JournalFileOptions = {
  readonly path: string;
  /** Open for appending. */
  readonly file: number;
  readonly size: number;
  /** The checksum of the last line. */
  readonly crc: number;
  readonly lock: Lock;
  readonly policy: SyncPolicy;
  readonly operations: FileOperations;
  /** Folders whose names must last before the file does. */
  readonly newFolders: readonly string[];
  /** It holds what was copied and did not wait for the disk. */
  readonly isUnsynced: boolean;
  readonly sideFiles: () => Promise<SideFiles>;
};

type Waiting = { jsons: string[]; last: boolean; resolve: () => void; reject: (error: RuntimeError) => void };

/** The open end of a log. Appends are written in the order of their calls; those that come while the disk works are written together. */
export class JournalFile {
  readonly #options: JournalFileOptions;
  #size: number;
  #crc: number;
  #waiting: Waiting[] = [];
  #busy = false;
  #worked: Promise<void> = Promise.resolve();
  #unsynced = false;
  #newFolders: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #fault: RuntimeError | undefined;
  /** An append was refused, so that whoever writes knows. */
  #failed = false;
  #closed = false;
  /** Lines that were written. */
  lines = 0;

  constructor(options: JournalFileOptions) {
    this.#options = options;
    this.#size = options.size;
    this.#crc = options.crc;
    this.#newFolders = options.newFolders;
    this.#unsynced = options.isUnsynced;
  }

  async append(events: readonly AgentEvent[]): Promise<void> {
    if (this.#closed) throw new RuntimeError("closed", `The journal ${this.#options.path} is closed`);
    if (this.#fault) this.#failed = true;
    if (this.#fault) throw this.#fault;
    const jsons = events.map(toSafeJson);
    const last = this.#options.policy === "always" || (this.#options.policy === "batch" && events.some(endsSomething));
    if (!last && !this.#busy && !jsons.some(needsSideFile)) return this.#write(jsons);
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ jsons, last, resolve, reject });
      if (!this.#busy) this.#worked = this.#work();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    try {
      await this.#worked;
      if (this.#unsynced && this.#options.policy !== "never") await this.#sync();
      else await this.#syncing;
    } catch (error) {
      if (!this.#failed) throw error; // else somebody was told already
    } finally {
      closeSync(this.#options.file);
      this.#options.lock.release();
    }
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#fault) throw this.#fault;
        const jsons: string[] = [];
        for (const { jsons: own } of group)
          for (const json of own) jsons.push(needsSideFile(json) ? await this.#shorten(json) : json);
        this.#write(jsons);
        if (group.some(({ last }) => last)) await this.#sync();
        for (const { resolve } of group) resolve();
      } catch (error) {
        const failure = toStorageFailure("write", this.#options.path, error);
        this.#failed = true;
        for (const { reject } of group) reject(failure);
      }
    }
    this.#busy = false; // here, not in a later callback: an append in between would wait for ever
  }

  async #shorten(json: string): Promise<string> {
    return await (await this.#options.sideFiles()).dehydrate(json);
  }

  /** All or nothing: what a full disk took of a line is cut off again, so that a later line never begins in the middle of it. */
  #write(jsons: readonly string[]): void {
    const { file, lock, operations, path } = this.#options;
    lock.check();
    const { bytes, crc } = sealLines(jsons, this.#crc);
    try {
      for (let written = 0; written < bytes.length; ) written += operations.write(file, bytes.subarray(written));
    } catch (error) {
      const failure = toStorageFailure("write", path, error);
      this.#failed = true;
      try {
        operations.truncate(file, this.#size);
      } catch {
        this.#fault = failure; // the next to open the log drops the torn line
      }
      throw failure;
    }
    this.#size += bytes.length;
    this.lines += jsons.length;
    this.#crc = crc;
    this.#unsynced = true;
    if (this.#options.policy === "batch") this.#timer ??= setTimeout(() => void this.#sync().catch(() => {}), batchMs).unref();
  }

  /** One at a time. After a failure nobody knows what the disk holds: trying again could report lost lines as written. */
  async #sync(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const before = this.#syncing;
    const syncing = before.then(async () => {
      if (!this.#unsynced) return;
      this.#unsynced = false;
      await Promise.all([this.#options.operations.sync(this.#options.file), ...this.#newFolders.map(syncFolder)]);
      this.#newFolders = [];
    });
    this.#syncing = syncing;
    try {
      await syncing;
    } catch (error) {
      this.#fault ??= toStorageFailure("write", this.#options.path, error);
      throw this.#fault;
    }
  }
}

function needsSideFile(json: string): boolean {
  return json.length > largeValueLength || mentionsReferences(json);
}

function endsSomething(event: AgentEvent): boolean {
  return event.type === "turn.ended" || event.type === "session.ended";
}
