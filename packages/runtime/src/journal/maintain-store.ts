import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync, unlinkSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { replaceFileWith } from "../util/replace-file.ts";
import { forkLines } from "./fork-lines.ts";
import { mapPathOf } from "./line-map.ts";
import { LineTable } from "./line-table.ts";
import { takeLock } from "./lock.ts";
import { noSuchEvent, unknownSession } from "./name-session.ts";
import { wholeLog } from "./recover.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";
import { logSuffix, type StorePlace } from "./store-place.ts";
import { syncFolder } from "../util/sync-folder.ts";

/** Every session that holds something. */
export function listSessions({ directory }: StorePlace): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(logSuffix) && isFilled(join(directory, name)))
    .map((name) => name.slice(0, -logSuffix.length));
}

/** Written beside its place and moved there whole: a fork is there or it is not. Side files are shared, not copied. */
export async function forkLog(
  place: StorePlace,
  fork: { sourceId: string; newId: string; at: number | undefined; isOpenedNext: boolean },
): Promise<void> {
  const { sourceId, newId, at, isOpenedNext } = fork;
  const path = place.logPath(newId);
  const recent = await place.recentLog();
  const { lines } = await recent.recover(place.logPath(sourceId));
  if (lines.length === 0) throw unknownSession(sourceId);
  const last = lines.seqAt(lines.length - 1);
  if (at !== undefined && at > last) throw noSuchEvent(sourceId, at, last);
  const count = at === undefined ? lines.length : lines.countUpTo(at);
  if (count === 0) throw new RuntimeError("usage", `Session ${sourceId} has no event ${at}, nor one before it`);
  const lock = await takeLock(`${path}.lock`, newId);
  try {
    if (existsSync(path))
      throw new RuntimeError("usage", `Session ${newId} exists already`, { hint: "Choose another session id" });
    const copy = new LineTable();
    const waits = place.sync !== "never" && !isOpenedNext;
    const size = await replaceFileWith(path, async (temporary) =>
      writeLog(temporary, forkLines({ lines, count, sourceId, newId, copy }), async (file) => {
        if (waits) await place.operations.sync(file);
      }),
    );
    recent.remember(path, wholeLog(copy, size));
    if (isOpenedNext) place.unsyncedCopies.add(path);
    if (waits) await syncFolder(place.directory);
  } catch (error) {
    throw toStorageFailure("write", path, error);
  } finally {
    lock.release();
  }
}

/** Everything of a session but the side files, which other sessions may share: `collectGarbage` sees to those. */
export async function removeLog(place: StorePlace, sessionId: string): Promise<void> {
  const path = place.logPath(sessionId);
  if (!existsSync(path)) throw unknownSession(sessionId);
  const lock = await takeLock(`${path}.lock`, sessionId, { brief: true });
  try {
    const kept = namesIn(place.directory).filter((name) => name.startsWith(`${basename(path)}.damaged-`));
    for (const name of [basename(path), ...kept]) unlinkSync(join(place.directory, name));
    rmSync(mapPathOf(path), { force: true });
    rmSync(join(place.directory, "tasks", basename(path, ".jsonl")), { recursive: true, force: true });
  } catch (error) {
    throw toStorageFailure("remove", path, error);
  } finally {
    lock.release();
  }
}

/** Answers how many bytes it has. */
async function writeLog(path: string, parts: Iterable<Buffer>, sync: (file: number) => Promise<void>): Promise<number> {
  const file = openSync(path, "wx", 0o600);
  let size = 0;
  try {
    for (const part of parts) {
      for (let written = 0; written < part.length; ) written += writeSync(file, part.subarray(written));
      size += part.length;
    }
    await sync(file);
    return size;
  } finally {
    closeSync(file);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw toStorageFailure("read", directory, error);
  }
}

function isFilled(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size > 0;
}
