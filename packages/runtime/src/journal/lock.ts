import { open, readFile, rename, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";

type Owner = { pid: number; host: string; started: string; token: string };

/**
 * One writer per session: a file that only its creator may remove. A lock whose owner is dead is taken over.
 * Locks on another host are never broken, because its processes cannot be seen from here.
 */
export async function takeLock(path: string, sessionId: string): Promise<{ release(): Promise<void> }> {
  const mine: Owner = {
    pid: process.pid,
    host: hostname(),
    started: (await processStart(process.pid)) ?? "",
    token: randomUuid(),
  };
  for (let attempt = 0; attempt < 5; attempt++) {
    if (await create(path, mine)) return { release: async () => await release(path, mine) };
    const owner = await readOwner(path);
    if (owner && (await isAlive(owner))) throw locked(sessionId, owner);
    await removeStale(path, owner);
  }
  throw new RuntimeError("session-locked", `Session ${sessionId} is being taken by other writers`, { retryable: true });
}

async function create(path: string, owner: Owner): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.writeFile(JSON.stringify(owner));
    await file.close();
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs rejects with nothing else
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
    try {
      const text = await readFile(path, "utf8");
      if (text !== "") return JSON.parse(text) as Owner; // written by `create` alone
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, 10)); // its creator is between open and write
  }
  return undefined;
}

async function isAlive(owner: Owner): Promise<boolean> {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const started = await processStart(owner.pid);
  return started === undefined || owner.started === "" || started === owner.started;
}

/** The kernel's start time tells a process from a later one with the same id; undefined where /proc does not exist. */
async function processStart(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

/** Renaming lets exactly one process win the stale lock; what it won is put back if it is not the one that was judged. */
async function removeStale(path: string, judged: Owner | undefined): Promise<void> {
  const aside = `${path}.${randomUuid()}`;
  try {
    await rename(path, aside);
  } catch {
    return; // somebody else was faster
  }
  const won = await readFile(aside, "utf8").catch(() => "");
  const same = judged ? won.includes(judged.token) : won === "";
  if (!same) await rename(aside, path);
  else await unlink(aside);
}

async function release(path: string, mine: Owner): Promise<void> {
  const owner = await readOwner(path);
  if (owner?.token === mine.token) await unlink(path).catch(() => {});
}

function locked(sessionId: string, owner: Owner): RuntimeError {
  return new RuntimeError("session-locked", `Session ${sessionId} is in use by process ${owner.pid} on ${owner.host}`, {
    retryable: true,
    hint: "Wait for it to end, or use another session id",
  });
}
