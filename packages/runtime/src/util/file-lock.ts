import { closeSync, openSync, statSync, unlinkSync } from "node:fs";

/** A change takes milliseconds: whoever holds it longer was killed. */
const staleMs = 10_000;
const patienceMs = 15_000;

/** One process at a time, for short changes of a file: the lock is another file, which only its creator removes. */
export async function withFileLock<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const deadline = Date.now() + patienceMs;
  while (!create(path)) {
    if (Date.now() > deadline) throw new Error(`${path} is held by another process`);
    if (ageOf(path) > staleMs) remove(path);
    else await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
  }
  try {
    return await work();
  } finally {
    remove(path);
  }
}

function create(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false; // fs throws nothing else
    throw error;
  }
}

function ageOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? Date.now() - stat.mtimeMs : 0;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // somebody else found it stale
  }
}
