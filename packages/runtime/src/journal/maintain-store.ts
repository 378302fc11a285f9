import { closeSync, existsSync, openSync, readdirSync, renameSync, statSync, unlinkSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { toSafeJson } from "../util/jsonl.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { takeLock } from "./lock.ts";
import { unknownSession } from "./name-session.ts";
import { recover } from "./recover.ts";
import { sealLines } from "./seal-lines.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";
import { logSuffix, type StorePlace } from "./store-place.ts";
import { forkEvents } from "./summary.ts";
import { syncFolder } from "./sync-folder.ts";

/** Every session that holds something. */
export function listSessions({ directory }: StorePlace): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(logSuffix) && isFilled(join(directory, name)))
    .map((name) => name.slice(0, -logSuffix.length));
}

/** Written beside its place and moved there whole: a fork is there or it is not. Side files are shared, not copied. */
export async function forkLog(
  place: StorePlace,
  fork: { sourceId: string; newId: string; at: number | undefined },
): Promise<void> {
  const { sourceId, newId, at } = fork;
  const path = place.logPath(newId);
  const source = await recover(place.logPath(sourceId));
  if (source.lines.length === 0) throw unknownSession(sourceId);
  const events = [...source.lines.look(Array.from({ length: source.lines.length }, (_, index) => index))].filter(
    ({ seq }) => at === undefined || seq <= at,
  );
  if (events.length === 0) throw new RuntimeError("usage", `Session ${sourceId} has no event ${at}, nor one before it`);
  const lock = await takeLock(`${path}.lock`, newId);
  const temporary = `${path}.${randomUuid()}.tmp`;
  try {
    if (existsSync(path))
      throw new RuntimeError("usage", `Session ${newId} exists already`, { hint: "Choose another session id" });
    await writeLog(place, temporary, forkEvents(events, sourceId, newId).map(toSafeJson));
    renameSync(temporary, path);
    if (place.sync !== "never") await syncFolder(place.directory);
  } catch (error) {
    if (existsSync(temporary)) unlinkSync(temporary);
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
  } catch (error) {
    throw toStorageFailure("remove", path, error);
  } finally {
    lock.release();
  }
}

async function writeLog(place: StorePlace, path: string, jsons: string[]): Promise<void> {
  const file = openSync(path, "wx", 0o600);
  try {
    let crc = 0;
    for (let start = 0; start < jsons.length; start += 1000) {
      const sealed = sealLines(jsons.slice(start, start + 1000), crc);
      crc = sealed.crc;
      for (let written = 0; written < sealed.bytes.length; ) written += writeSync(file, sealed.bytes.subarray(written));
    }
    if (place.sync !== "never") await place.operations.sync(file);
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
