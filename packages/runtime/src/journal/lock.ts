import { closeSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";

type Owner = { pid: number; host: string; started: string; token: string };

/**
 * One writer per session: a file that only its creator may remove. A lock whose owner is dead is taken over.
 * Locks on another host are never broken, because its processes cannot be seen from here.
 * Synchronous: a few tiny files, and waiting for the thread pool takes longer than the work.
 */
export async function takeLock(path: string, sessionId: string): Promise<{ release(): void }> {
  const mine: Owner = { pid: process.pid, host: hostname(), started: processStart(process.pid) ?? "", token: randomUuid() };
  for (let attempt = 0; attempt < 5; attempt++) {
    if (create(path, mine)) return { release: () => release(path, mine) };
    const owner = await readOwner(path);
    if (owner && isAlive(owner)) throw locked(sessionId, owner);
    removeStale(path, owner);
  }
  throw new RuntimeError("session-locked", `Session ${sessionId} is being taken by other writers`, { retryable: true });
}

function create(path: string, owner: Owner): boolean {
  try {
    const file = openSync(path, "wx", 0o600);
    writeFileSync(file, JSON.stringify(owner));
    closeSync(file);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    if (code === "EEXIST") return false;
    throw new RuntimeError("storage-failed", `Cannot lock ${path}: ${message}`, {
      cause: error,
      hint: "Point OUTRIDER_HOME at a writable folder, or run with --no-session-persistence",
    });
  }
}

/** Undefined for a lock that is gone, or that its creator has not filled in. */
async function readOwner(path: string): Promise<Owner | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const text = readIfThere(path);
    if (text === undefined) return undefined;
    if (text !== "") return JSON.parse(text) as Owner; // written by `create` alone, in one go
    await new Promise((resolve) => setTimeout(resolve, 10)); // its creator is between open and write
  }
  return undefined;
}

function isAlive(owner: Owner): boolean {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const started = processStart(owner.pid);
  return started === undefined || owner.started === "" || started === owner.started;
}

/** The kernel's start time tells a process from a later one with the same id; undefined where /proc does not exist. */
function processStart(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

/** Renaming lets exactly one process win the stale lock; what it won is put back if it is not the one that was judged. */
function removeStale(path: string, judged: Owner | undefined): void {
  const aside = `${path}.${randomUuid()}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // somebody else was faster
  }
  const won = readIfThere(aside) ?? "";
  const same = judged ? won.includes(judged.token) : won === "";
  if (same) unlinkSync(aside);
  else renameSync(aside, path);
}

function release(path: string, mine: Owner): void {
  if (!readIfThere(path)?.includes(mine.token)) return;
  try {
    unlinkSync(path);
  } catch {
    // Somebody removed it by hand; it is gone either way.
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function locked(sessionId: string, owner: Owner): RuntimeError {
  return new RuntimeError("session-locked", `Session ${sessionId} is in use by process ${owner.pid} on ${owner.host}`, {
    retryable: true,
    hint: "Wait for it to end, or use another session id",
  });
}
