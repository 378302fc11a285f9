import { closeSync, existsSync, ftruncateSync, openSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { action, checkOptions, checkValue, fields, type Kind, oneOf, text } from "../protocol/kinds.ts";
import { JournalFile } from "./journal-file.ts";
import { type Lock, takeLock } from "./lock.ts";
import type { MendedLog } from "./mend.ts";
import { toStorageFailure } from "./storage-failure.ts";
import type { JournalWriter, SessionStore } from "./store.ts";
import { type FileStoreOptions, isSessionId, type StorePlace, toPlace } from "./store-place.ts";
import { toStoredEvents } from "./stored-events.ts";
import { makeFolder } from "../util/make-folder.ts";

const kinds: Readonly<Record<keyof FileStoreOptions, Kind>> = {
  sync: oneOf(["always", "batch", "never"]),
  now: action,
  operations: fields,
};

/**
 * One `<session id>.jsonl` per session in `directory`, one event per line: `jq` reads it, `tail -f` follows it. Texts longer than 64 kB are in
 * `blobs/`, named by their SHA-256. `index.json` is a cache that may be deleted.
 */
export function createFileStore(directory: string, options: FileStoreOptions = {}): SessionStore {
  checkValue("directory", directory, text);
  checkOptions("createFileStore", options, kinds);
  const place = toPlace(directory, options);
  // What an ordinary run does not need is loaded when it is asked for.
  const maintenance = (): Promise<typeof import("./maintain-store.ts")> => import("./maintain-store.ts");
  return {
    open: (sessionId) => openForWriting(place, sessionId),
    async read(sessionId, options = {}) {
      const path = place.logPath(sessionId);
      if (!existsSync(path)) return [];
      const { readEvents } = await import("./mend.ts");
      return await readEvents(place, path, options);
    },
    has: async (sessionId) =>
      isSessionId(sessionId) && (statSync(place.logPath(sessionId), { throwIfNoEntry: false })?.size ?? 0) > 0,
    list: async () => (await maintenance()).listSessions(place),
    summaries: async (options) => (await import("./session-index.ts")).listSummaries(place, options),
    fork: async (sourceId, newId, { at, isOpenedNext = false } = {}) =>
      (await maintenance()).forkLog(place, { sourceId, newId, at, isOpenedNext }),
    remove: async (sessionId) => (await maintenance()).removeLog(place, sessionId),
    async rename(sessionId, name) {
      const { nameSession, unknownSession } = await import("./name-session.ts");
      if (!existsSync(place.logPath(sessionId))) throw unknownSession(sessionId);
      await nameSession({ open: (id) => openForWriting(place, id) }, { sessionId, name, now: place.now });
    },
  };
}

async function openForWriting(place: StorePlace, sessionId: string): Promise<JournalWriter> {
  const path = place.logPath(sessionId);
  const newFolders = foldersMade(place.directory);
  const lock = await takeLock(`${path}.lock`, sessionId);
  try {
    // Most sessions are new: a look is cheaper than a read that fails.
    if (!existsSync(path)) return startWriter(place, { path, lock, newFolders: [...newFolders, place.directory] });
    const { mendLog } = await import("./mend.ts");
    const stored = await mendLog(place, path);
    const isUnsynced = place.unsyncedCopies.delete(path);
    return startWriter(place, { path, lock, stored, isUnsynced, newFolders: isUnsynced ? [place.directory] : newFolders });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A log is mapped anew when it has grown by so many lines: to read fewer one by one takes a few milliseconds. */
const linesPerMap = 1_000;

type Start = { path: string; lock: Lock; newFolders: string[]; stored?: MendedLog; isUnsynced?: boolean };

function startWriter(place: StorePlace, { path, lock, newFolders, stored, isUnsynced = false }: Start): JournalWriter {
  const file = openLog(path, stored);
  const log = new JournalFile({
    path,
    file,
    size: (stored?.validBytes ?? 0) + (stored?.unterminated ? 1 : 0),
    crc: stored?.chain.crc ?? 0,
    lock,
    policy: place.sync,
    operations: place.operations,
    newFolders,
    isUnsynced,
    sideFiles: place.sideFiles,
  });
  return {
    events: stored?.events ?? toStoredEvents([]),
    warnings: stored?.warnings ?? [],
    location: path,
    append: (events) => log.append(stored ? events.map(stored.shorten) : events),
    async close() {
      await log.close();
      if ((stored?.unmapped ?? 0) + log.lines < linesPerMap) return;
      (await import("./write-line-map.ts")).writeLineMap(path);
    },
  };
}

/** Cuts off what is no whole event: it would swallow the next one. */
function openLog(path: string, stored: Start["stored"]): number {
  let file: number | undefined;
  try {
    file = openSync(path, "a", 0o600);
    if (stored) ftruncateSync(file, stored.validBytes);
    if (stored?.unterminated) writeSync(file, "\n");
    return file;
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw toStorageFailure("open", path, error);
  }
}

/** Answers the folders in which a name is new. */
function foldersMade(directory: string): string[] {
  try {
    const created = makeFolder(directory);
    return created === undefined ? [] : [dirname(created)];
  } catch (error) {
    throw toStorageFailure("create", directory, error);
  }
}
