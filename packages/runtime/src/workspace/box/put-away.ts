import { chmodSync, lstatSync, renameSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { entryAt } from "./host-files.ts";

const numbers = new Map<string, number>();

/** Moves a file or folder to `setAside`, under a name that is free there. */
export async function putAway(path: string, setAside: string): Promise<void> {
  makeFolder(setAside);
  const target = freePlace(basename(path), setAside);
  makeMovable(path);
  try {
    renameSync(path, target);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    await cp(path, target, { recursive: true, verbatimSymlinks: true });
    await rm(path, { recursive: true, force: true });
  }
}

/** A name of bytes that are no text. */
export async function putAwayBytes(path: Buffer, setAside: string): Promise<void> {
  makeFolder(setAside);
  renameSync(path, freePlace("odd-name", setAside));
}

function freePlace(name: string, setAside: string): string {
  let number = (numbers.get(setAside) ?? 0) + 1;
  while (entryAt(join(setAside, `${number}-${name}`)) !== "missing") number++;
  numbers.set(setAside, number);
  return join(setAside, `${number}-${name}`);
}

/** Whoever owns a folder can close it, and open it again: the folder around, and one that is moved itself. */
function makeMovable(path: string): void {
  for (const folder of [dirname(path), path]) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory()) openFolder(folder, stats.mode, 0o700);
  }
}

/** Gives its owner what they need. */
export function openFolder(path: string, mode: number, needed: number): void {
  if ((mode & needed) === needed) return;
  try {
    chmodSync(path, (mode & 0o777) | needed);
  } catch {
    // Somebody else's: then no command of ours has made it.
  }
}
