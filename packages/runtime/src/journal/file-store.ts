import { existsSync, mkdirSync } from "node:fs";
import { type FileHandle, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "../protocol/events.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { toLine } from "../util/jsonl.ts";
import { takeLock } from "./lock.ts";
import type { JournalWriter, SessionStore } from "./store.ts";

const suffix = ".jsonl";

/** One `<session id>.jsonl` per session in `directory`, one event per line: `jq` reads it, `tail -f` follows it. */
export function createFileStore(directory: string): SessionStore {
  const pathOf = (sessionId: string): string => join(directory, `${checkId(sessionId)}${suffix}`);
  return {
    async open(sessionId) {
      const path = pathOf(sessionId);
      makeFolder(directory);
      const lock = await takeLock(`${path}.lock`, sessionId);
      try {
        return await openWriter(path, lock);
      } catch (error) {
        lock.release();
        throw error;
      }
    },
    async read(sessionId, options = {}) {
      const { events } = parseJournal(await readOrNothing(pathOf(sessionId)));
      const after = options.after ?? 0;
      return after === 0 ? events : events.filter((event) => event.seq > after);
    },
    async list() {
      const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return [];
        throw error;
      });
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
    },
  };
}

async function openWriter(path: string, lock: { release(): void }): Promise<JournalWriter> {
  // Most sessions are new: a look is cheaper than a read that fails.
  const stored = existsSync(path) ? await readOrNothing(path) : Buffer.alloc(0);
  const { events, validBytes, warnings } = parseJournal(stored);
  const file = await open(path, "a", 0o600).catch(fail("open", path));
  // A torn last line would swallow the next event: cut it off before anything is appended.
  if (warnings.length > 0) await file.truncate(validBytes);
  let closed = false;
  return {
    events,
    warnings,
    location: path,
    async append(batch) {
      if (closed) throw new RuntimeError("closed", `The journal ${path} is closed`);
      await appendWhole(file, batch.map(toLine).join(""), path);
    },
    async close() {
      if (closed) return;
      closed = true;
      await file.close();
      lock.release();
    },
  };
}

function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    fail("create", directory)(error as NodeJS.ErrnoException); // fs throws nothing else
  }
}

async function appendWhole(file: FileHandle, text: string, path: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written).catch(fail("write", path))).bytesWritten;
  }
}

/** Reads up to the first line that is no event; what comes after it cannot be trusted to follow from what came before. */
function parseJournal(bytes: Buffer): { events: AgentEvent[]; validBytes: number; warnings: string[] } {
  const events: AgentEvent[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    const event = parseEvent(bytes.toString("utf8", start, end));
    if (!event) break;
    events.push(event);
    start = end + 1;
  }
  const dropped = bytes.length - start;
  const warnings =
    dropped === 0 ? [] : [`Dropped ${dropped} bytes at the end of the journal: they are no whole event (a torn write)`];
  return { events, validBytes: start, warnings };
}

function parseEvent(line: string): AgentEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // The journal is written by us alone: a line that has our envelope is one of our events.
    return isEnvelope(value) ? (value as AgentEvent) : undefined;
  } catch {
    return undefined;
  }
}

function isEnvelope(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "seq" in value &&
    typeof value.seq === "number" &&
    "type" in value &&
    "sessionId" in value
  );
}

async function readOrNothing(path: string): Promise<Buffer> {
  return await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return Buffer.alloc(0);
    return fail("read", path)(error);
  });
}

function checkId(sessionId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(sessionId)) return sessionId;
  throw new RuntimeError("usage", `A session id is letters, digits, "-" and "_", not ${JSON.stringify(sessionId)}`);
}

function fail(action: string, path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw new RuntimeError("storage-failed", `Cannot ${action} ${path}: ${error.message}`, {
      cause: error,
      hint: "Point OUTRIDER_HOME at a writable folder with free space, or run with --no-session-persistence",
    });
  };
}
