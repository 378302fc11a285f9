import { mkdirSync, renameSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { namesIn } from "./host-files.ts";

/** Moves a file or folder to `setAside`, under a name that is free there. */
export async function putAway(path: string, setAside: string): Promise<void> {
  mkdirSync(setAside, { recursive: true, mode: 0o700 });
  const taken = new Set(namesIn(setAside));
  let number = 1;
  while (taken.has(`${number}-${basename(path)}`)) number++;
  const target = join(setAside, `${number}-${basename(path)}`);
  try {
    renameSync(path, target);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    await cp(path, target, { recursive: true, verbatimSymlinks: true });
    await rm(path, { recursive: true, force: true });
  }
}
