import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { type Door, doorOf, openDoor } from "./lock-door.ts";
import { describeSelf, isContained, lookAtOwner, type Owner, type OwnerState, parseOwner } from "./lock-owner.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";

export interface Lock {
  /** Throws once the lock is somebody else's: asked before each write, so that a process that slept too long writes nothing. */
  check(): void;
  release(): void;
}

/** A sign of life this often, for those who cannot see the process. */
const beatMs = 5000;
/** What a writer believes without looking; a lock is taken away from it after `Owner`'s silence, which is far longer. */
const trustMs = 10_000;
/** Breaking a dead lock takes microseconds; a process that has not done it after this long was killed meanwhile. */
const breakingMs = 2_000;

/**
 * One writer per session: a file that only its creator may remove. A lock whose owner is dead is taken over.
 * Synchronous: a few tiny files, and waiting for the thread pool takes longer than the work.
 * `brief`: for what is done at once and may make room on a full disk. There the lock stays empty, which others respect for 200 ms.
 * `space` is our process namespace: in a container the lock has a door, so that others of this machine can tell at once whether we live.
 */
export async function takeLock(
  path: string,
  sessionId: string,
  options: { readonly brief?: boolean; readonly space?: string } = {},
): Promise<Lock> {
  const mine = describeSelf(randomUuid());
  const deadline = Date.now() + breakingMs + 1000;
  do {
    const file = create(path, mine, options.brief ?? false);
    if (file !== undefined) {
      const door = isContained(options.space) ? await openDoor(doorOf(path, mine.token)) : undefined;
      return hold({ path, file, mine, sessionId, door });
    }
    const found = await readLock(path);
    if (!found) continue;
    const state = found.owner && (await lookAtOwner(found.owner, path));
    if (found.owner && state?.isAlive) throw locked(sessionId, found.owner, state);
    // Somebody else is breaking it, or was killed doing that.
    if (!breakLock(path, found)) await new Promise((resolve) => setTimeout(resolve, 10));
  } while (Date.now() < deadline);
  throw new RuntimeError("session-locked", `Session ${sessionId} is being taken by other writers`, { retryable: true });
}

/** Undefined when there is a lock already. */
function create(path: string, owner: Owner, brief: boolean): number | undefined {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    throw toStorageFailure("lock", path, error);
  }
  try {
    writeFileSync(file, JSON.stringify(owner));
    return file;
  } catch (error) {
    if (brief && isFull(error)) return file;
    closeSync(file);
    remove(path); // an empty lock would look like one that is being made
    throw toStorageFailure("lock", path, error);
  }
}

function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

type Held = { path: string; file: number; mine: Owner; sessionId: string; door: Door | undefined };

function hold({ path, file, mine, sessionId, door }: Held): Lock {
  let confirmedAt = Date.now();
  const isMine = (): boolean => readIfThere(path)?.includes(mine.token) ?? false;
  const beat = (): void => {
    try {
      // Into the file we made, whatever the name stands for by now. The bytes stay the same; the file system notes its own time.
      writeSync(file, JSON.stringify(mine), 0);
      if (isMine()) confirmedAt = Date.now();
    } catch {
      // `check` finds out what is wrong when it matters.
    }
  };
  const timer = setInterval(beat, beatMs).unref();
  return {
    check() {
      if (Math.abs(Date.now() - confirmedAt) < trustMs) return;
      if (!isMine()) throw lost(sessionId);
      beat();
    },
    release() {
      clearInterval(timer);
      door?.close();
      if (isMine() || isUnnamed(path, file)) remove(path);
      closeSync(file);
    },
  };
}

/** The file we made, into which a full disk let nobody write a name. */
function isUnnamed(path: string, file: number): boolean {
  const [there, ours] = [statSync(path, { throwIfNoEntry: false }), fstatSync(file)];
  if (there?.ino !== ours.ino || there.dev !== ours.dev) return false;
  return parseOwner(readIfThere(path) ?? "") === undefined;
}

type FoundLock = { owner: Owner | undefined; identity: string };

/** Undefined for a lock that is gone; without an owner for one that its creator has not filled in. */
async function readLock(path: string): Promise<FoundLock | undefined> {
  for (let attempt = 0; ; attempt++) {
    const text = readIfThere(path);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (text === undefined || !stat) return undefined;
    const owner = parseOwner(text);
    if (owner) return { owner, identity: owner.token };
    if (attempt === 20) return { owner: undefined, identity: `${stat.ino}-${stat.mtimeMs}` };
    await new Promise((resolve) => setTimeout(resolve, 10)); // its creator may be between open and write
  }
}

/**
 * A second name for the dead lock, made from its identity, can be given only once: whoever gives it is the only one to remove that lock,
 * and a lock that came into its place meanwhile is never touched.
 */
function breakLock(path: string, found: FoundLock): boolean {
  const claim = `${path}.stale-${found.identity}`;
  if (!claimLock(path, claim)) return false;
  const claimed = readIfThere(claim) ?? "";
  const judged = found.owner ? claimed.includes(found.identity) : parseOwner(claimed) === undefined;
  if (judged) remove(path);
  if (judged && found.owner) remove(doorOf(path, found.owner.token));
  remove(claim);
  return judged;
}

function claimLock(path: string, claim: string): boolean {
  try {
    linkSync(path, claim);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false; // somebody else was faster
    if (codeOf(error) === "EEXIST") return dropOldClaim(claim);
  }
  try {
    renameSync(path, claim); // no second names on this file system
    return true;
  } catch {
    return false;
  }
}

/** A claim that is that old was left by a process that was killed in between. */
function dropOldClaim(claim: string): false {
  const stat = statSync(claim, { throwIfNoEntry: false });
  if (stat && Date.now() - stat.ctimeMs > breakingMs) remove(claim);
  return false;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody removed it by hand; it is gone either way.
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toStorageFailure("read", path, error);
  }
}

const unseenWords = "That process cannot be seen from here. If it is gone, the session is free in";

function locked(sessionId: string, owner: Owner, { freeInMs }: OwnerState): RuntimeError {
  const wait = freeInMs === undefined ? "" : `${unseenWords} ${Math.ceil(freeInMs / 1000)} s. `;
  return new RuntimeError("session-locked", `Session ${sessionId} is in use by process ${owner.pid} on ${owner.host}`, {
    retryable: true,
    hint: `${wait}Wait for it to end, fork the session, or use another session id`,
  });
}

function lost(sessionId: string): RuntimeError {
  const message = `This process was silent for so long that another one has taken over session ${sessionId}`;
  return new RuntimeError("session-locked", message, { hint: "Resume the session once the other process has ended" });
}
