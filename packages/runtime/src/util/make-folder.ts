import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those it lies in; answers the first that is new. Only its owner may look into them where no other mode is given.
 * One by one: Node's own recursion never ends where the system says of a folder in which nothing can be made that it is not there,
 * as in /proc.
 */
export function makeFolder(path: string, mode = 0o700): string | undefined {
  const missing = [path];
  for (let above = dirname(path); !existsSync(above); above = dirname(above)) missing.unshift(above);
  let first: string | undefined;
  for (const folder of missing) if (makeOne(folder, mode)) first ??= folder;
  return first;
}

/** Another process may be faster. */
function makeOne(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !statSync(folder).isDirectory()) throw error; // of the system
    return false;
  }
}
