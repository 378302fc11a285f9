import { lstatSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { FileState } from "./file-state.ts";
import { toCheckpoints } from "./history.ts";
import { readRecords, replaceRecords } from "./log.ts";
import type { CheckpointRecord } from "./record.ts";
import { type SessionFolder, sessionFolder } from "./session-folder.ts";

export type ExpireOptions = {
  /** Where the checkpoints of all sessions are kept. */
  readonly directory: string;
  /** Default 30. */
  readonly keepDays?: number | undefined;
  /** Of all sessions together; the oldest go first. Default 5 GiB. */
  readonly maxBytes?: number | undefined;
  readonly now?: (() => number) | undefined;
};

export type ExpireResult = {
  readonly removedCheckpoints: number;
  /** Sessions of which nothing is left. */
  readonly removedSessions: readonly string[];
  /** Sessions that are in use, or whose log is damaged or cannot be read: left as they are. */
  readonly skippedSessions: readonly string[];
  readonly freedBytes: number;
  readonly keptBytes: number;
};

const dayMs = 24 * 60 * 60 * 1000;

/** Drops old checkpoints, oldest first, and the copies nothing refers to any more. Safe beside running sessions: each is locked first. */
export async function expireCheckpoints(options: ExpireOptions): Promise<ExpireResult> {
  const { directory, keepDays = 30, maxBytes = 5 * 1024 ** 3, now = Date.now } = options;
  const skippedSessions: string[] = [];
  const sessions: Survey[] = [];
  for (const sessionId of sessionsWithCheckpoints(directory)) {
    try {
      sessions.push(await survey(sessionFolder({ directory, sessionId })));
    } catch {
      skippedSessions.push(sessionId); // one that cannot be read is no reason to keep all the others
    }
  }
  const oldest = new Date(now() - keepDays * dayMs).toISOString();
  for (const session of sessions) while ((session.checkpoints[0]?.at ?? oldest) < oldest) dropFirst(session);
  let total = sessions.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const session of sessionsByAge(sessions)) {
    if (total <= maxBytes) break;
    total -= session.bytes;
    dropFirst(session);
    total += session.bytes;
  }

  const removedSessions: string[] = [];
  let removedCheckpoints = 0;
  let freedBytes = 0;
  let keptBytes = 0;
  for (const session of sessions) {
    const { folder, dropThrough } = session;
    const before = bytesIn(folder);
    const outcome = await shorten(folder, dropThrough);
    if (outcome === "skipped") skippedSessions.push(folder.sessionId);
    else removedCheckpoints += session.dropped;
    if (outcome === "removed") removedSessions.push(folder.sessionId);
    const after = bytesIn(folder);
    freedBytes += before - after;
    keptBytes += after;
  }
  return { removedCheckpoints, removedSessions, skippedSessions, freedBytes, keptBytes };
}

/** The same, at most once a day, when checkpoints are opened. Tidying up never stands in the way of work: it does not reject. */
export async function expireWhenDue(options: ExpireOptions): Promise<ExpireResult | undefined> {
  try {
    return await expireOnceADay(options);
  } catch {
    return undefined; // a folder that cannot be written to is told of by the work itself
  }
}

async function expireOnceADay(options: ExpireOptions): Promise<ExpireResult | undefined> {
  const now = options.now ?? Date.now;
  const stamp = join(options.directory, "expired");
  const last = lstatSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  if (last !== undefined && now() - last < dayMs) return undefined;
  if (!lstatSync(options.directory, { throwIfNoEntry: false })) return undefined;
  writeFileSync(stamp, "", { mode: 0o600 });
  utimesSync(stamp, now() / 1000, now() / 1000);
  return await expireCheckpoints(options);
}

/** The sessions that have checkpoints. */
export function sessionsWithCheckpoints(directory: string): string[] {
  try {
    const folders = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => name).filter((name) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // fs throws nothing else
    throw error;
  }
}

type Aged = { n: number; at: string; hashes: ReadonlySet<string> };
type Survey = {
  folder: SessionFolder;
  checkpoints: Aged[];
  references: Map<string, number>;
  sizes: ReadonlyMap<string, number>;
  bytes: number;
  dropped: number;
  dropThrough: number;
};

async function survey(folder: SessionFolder): Promise<Survey> {
  const { records } = await readRecords(folder.log);
  const byNumber = new Map<number, CheckpointRecord[]>();
  for (const record of records) addTo(byNumber, record);
  const checkpoints = toCheckpoints(records).map(({ sequence, at }) => ({
    n: sequence,
    at,
    hashes: hashesOf(byNumber.get(sequence) ?? []),
  }));
  const references = new Map<string, number>();
  for (const { hashes } of checkpoints) for (const hash of hashes) references.set(hash, (references.get(hash) ?? 0) + 1);
  const sizes = new Map(folder.blobs.list().map(({ hash, size }) => [hash, size]));
  return { folder, checkpoints, references, sizes, bytes: bytesIn(folder), dropped: 0, dropThrough: 0 };
}

function dropFirst(session: Survey): void {
  const first = session.checkpoints.shift();
  if (!first) return;
  session.dropThrough = first.n;
  session.dropped++;
  for (const hash of first.hashes) {
    const left = (session.references.get(hash) ?? 1) - 1;
    session.references.set(hash, left);
    if (left === 0) session.bytes -= session.sizes.get(hash) ?? 0;
  }
  if (session.checkpoints.length === 0) session.bytes = 0;
}

/** Each session once for each of its checkpoints, in the order of their age. */
function sessionsByAge(sessions: readonly Survey[]): Survey[] {
  const all = sessions.flatMap((session) => session.checkpoints.map(({ at }) => ({ session, at })));
  return all.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ session }) => session);
}

/** The log first, then the copies: a crash in between leaves copies too many, never one too few. */
async function shorten(folder: SessionFolder, dropThrough: number): Promise<"removed" | "kept" | "skipped"> {
  let lock: { release(): void };
  try {
    lock = await folder.lock();
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "session-locked") return "skipped";
    throw error;
  }
  try {
    // Read again: it may have grown since the survey, and now nobody else writes.
    const { records, damaged } = await readRecords(folder.log);
    const kept = records.filter(({ n }) => n > dropThrough);
    if (kept.length === 0 && (damaged === 0 || dropThrough > 0)) {
      await rm(folder.path, { recursive: true, force: true });
      return "removed";
    }
    if (damaged > 0) return "skipped"; // which copies the damaged lines refer to is not known
    if (kept.length < records.length) await replaceRecords(folder.log, kept);
    const needed = hashesOf(kept);
    for (const { hash } of folder.blobs.list()) if (!needed.has(hash)) await folder.blobs.remove(hash);
    return "kept";
  } finally {
    lock.release();
  }
}

function hashesOf(records: readonly CheckpointRecord[]): Set<string> {
  return new Set(records.flatMap(statesOf).flatMap((state) => (state?.kind === "file" ? [state.hash] : [])));
}

function statesOf(record: CheckpointRecord): (FileState | undefined)[] {
  switch (record.type) {
    case "link":
      return [record.before, record.intended];
    case "again":
      return [record.from, record.intended];
    case "written":
      return [record.after];
    default:
      return [];
  }
}

function bytesIn(folder: SessionFolder): number {
  const log = lstatSync(folder.log, { throwIfNoEntry: false })?.size ?? 0;
  return folder.blobs.list().reduce((sum, { size }) => sum + size, log);
}

function addTo(byNumber: Map<number, CheckpointRecord[]>, record: CheckpointRecord): void {
  const records = byNumber.get(record.n);
  if (records) records.push(record);
  else byNumber.set(record.n, [record]);
}
