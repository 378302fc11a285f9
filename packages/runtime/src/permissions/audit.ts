import {
  appendFileSync,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { readLines, toLine } from "../util/jsonl.ts";
import { messageOf } from "../util/message-of.ts";
import { defined } from "../util/defined.ts";
import { makeFolder } from "../util/make-folder.ts";

/** One decision about one call. */
export type AuditRecord = {
  /** ISO date. */
  readonly at: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly cwd: string;
  readonly tool: string;
  /** What the call was about to touch; shortened. */
  readonly resource: string;
  readonly effect: "allow" | "deny";
  readonly by: string;
  readonly reason: string;
  readonly rule?: string;
  readonly source?: string;
};

export type AuditLogOptions = {
  /** `audit` in the user's own folder. */
  readonly directory: string;
  readonly sessionId: string;
  readonly cwd: string;
  /** Takes secrets out of a text. */
  readonly redact?: ((text: string) => string) | undefined;
  /** What to do when a line cannot be written. Without it the failure is thrown, and what was decided must not happen. */
  readonly onFailure?: ((error: RuntimeError) => void) | undefined;
  /** Months that ended longer ago go with the first line of a new one. Default 365. */
  readonly keepDays?: number | undefined;
  readonly now?: (() => number) | undefined;
};

export interface AuditLog {
  record(entry: Omit<AuditRecord, "at" | "sessionId" | "cwd">): void;
}

const maxText = 1_000;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Who was allowed what, and why, for all sessions, one file per month. Each line is one write at the end of the file:
 * lines of parallel processes never mix. Synchronous: it is done before what it tells of is done.
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { directory, sessionId, cwd, redact = (text) => text, onFailure, keepDays = 365, now = Date.now } = options;
  const clean = (text: string): string => shorten(redact(text));
  return {
    record({ callId, tool, resource, effect, by, reason, rule, source }) {
      const at = new Date(now()).toISOString();
      const line = toLine({
        at,
        sessionId,
        callId,
        cwd,
        tool,
        resource: clean(resource),
        effect,
        by,
        reason: clean(reason),
        ...(rule !== undefined && { rule: clean(rule) }),
        ...defined({ source }),
      });
      try {
        const isNew = append(directory, `${at.slice(0, 7)}.jsonl`, line);
        if (isNew) expire(directory, now() - keepDays * dayMs);
      } catch (error) {
        const failure = toFailure(directory, error);
        if (!onFailure) throw failure;
        onFailure(failure);
      }
    },
  };
}

function shorten(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText).toWellFormed()}… (${text.length} characters)` : text;
}

/** Answers whether the file was not there before. */
function append(directory: string, name: string, line: string): boolean {
  const { file, isNew } = openLog(directory, name);
  try {
    appendFileSync(file, isTorn(file) ? `\n${line}` : line);
    return isNew;
  } finally {
    closeSync(file);
  }
}

/** A crash or a full disk may have left a line without its end: the next one must not be taken for the rest of it. */
function isTorn(file: number): boolean {
  const last = Buffer.from("\n"); // stays so where there is nothing to read
  readSync(file, last, { position: fstatSync(file).size - 1 });
  return last.toString() !== "\n";
}

function openLog(directory: string, name: string): { file: number; isNew: boolean } {
  const flags = constants.O_RDWR | constants.O_APPEND;
  try {
    return { file: openSync(join(directory, name), flags), isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // fs throws nothing else
    makeFolder(directory);
    return { file: openSync(join(directory, name), flags | constants.O_CREAT, 0o600), isNew: true };
  }
}

/** Tidying up never stands in the way of work: what cannot be removed stays. */
function expire(directory: string, before: number): void {
  try {
    const from = new Date(before).toISOString();
    for (const name of logFiles(directory)) if (name < from) rmSync(join(directory, name)); // `2025-06.` comes behind `2025-06-`
  } catch {
    // It stays.
  }
}

function toFailure(directory: string, error: unknown): RuntimeError {
  return new RuntimeError("storage-failed", `The audit log in ${directory} cannot be written: ${messageOf(error)}`, {
    cause: error,
    hint: "Point OUTRIDER_HOME at a folder that can be written to",
  });
}

export type AuditQuery = {
  readonly directory: string;
  readonly sessionId?: string | undefined;
  /** Only from this moment on. */
  readonly since?: Date | undefined;
  readonly denied?: boolean | undefined;
};

/** The records, oldest month first. `unreadable` is told of lines that are no record, as a crash may leave one. */
export async function* readAuditLog(query: AuditQuery, unreadable?: (place: string) => void): AsyncGenerator<AuditRecord> {
  const { directory, sessionId, since, denied } = query;
  const from = since?.toISOString() ?? "";
  for (const name of logFiles(directory).filter((name) => name >= from)) {
    let number = 0;
    for await (const line of readLines(createReadStream(join(directory, name)))) {
      number++;
      const record = parseRecord(line);
      if (!record) unreadable?.(`${join(directory, name)}:${number}`);
      else if (
        record.at >= from &&
        (sessionId === undefined || record.sessionId === sessionId) &&
        (!denied || record.effect === "deny")
      )
        yield record;
    }
  }
}

function logFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^\d{4}-\d{2}\.jsonl$/.test(name))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // fs throws nothing else
    throw new RuntimeError("storage-failed", `${directory} cannot be read: ${messageOf(error)}`);
  }
}

const texts: readonly (keyof AuditRecord)[] = ["at", "sessionId", "callId", "cwd", "tool", "resource", "effect", "by", "reason"];

function parseRecord(line: string): AuditRecord | undefined {
  try {
    const value = JSON.parse(line) as Record<string, unknown>; // looked at below, field by field
    return texts.every((name) => typeof value?.[name] === "string") ? (value as AuditRecord) : undefined; // every field it must have is there
  } catch {
    return undefined;
  }
}
