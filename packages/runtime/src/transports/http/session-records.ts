import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { isRecord } from "../../util/is-record.ts";
import { toLine } from "../../util/jsonl.ts";
import { replaceFileSync } from "../../util/replace-file.ts";
import type { SessionWish } from "./session-wish.ts";

/** Whose session it is, and how it was asked for: so it is opened again, in another process too. */
export type SessionRecord = { readonly id: string; readonly owner: string; readonly wish: SessionWish };

/** The sessions that were begun over the server, in a file with a line for each. A line that was cut off by a crash is left out. */
export class SessionRecords {
  readonly #path: string;
  readonly #records = new Map<string, SessionRecord>();

  constructor(path: string) {
    this.#path = path;
    makeFolder(dirname(path));
    const lines = readIfThere(path);
    for (const line of lines) this.#take(parseLine(line));
    // The piece of a line that a crash has left would spoil the next one.
    if (lines.length !== this.#records.size) replaceFileSync(path, [...this.#records.values()].map(toLine).join(""));
  }

  get(id: string): SessionRecord | undefined {
    return this.#records.get(id);
  }

  /** On disk when it returns. */
  add(record: SessionRecord): void {
    appendFileSync(this.#path, toLine(record), { mode: 0o600 });
    this.#records.set(record.id, record);
  }

  remove(id: string): void {
    if (this.#records.delete(id)) appendFileSync(this.#path, toLine({ id, removed: true }), { mode: 0o600 });
  }

  #take(line: unknown): void {
    if (!isRecord(line) || typeof line["id"] !== "string") return;
    const { id, owner, wish, removed } = line;
    if (removed === true) this.#records.delete(id);
    else if (typeof owner === "string" && isRecord(wish)) this.#records.set(id, { id, owner, wish });
  }
}

function readIfThere(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
