import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder only its owner may look into, and those it lies in; answers the first that is new. One by one: Node's own recursion
 * never ends where the system says of a folder in which nothing can be made that it is not there, as in /proc.
 */
export function makeFolder(path: string): string | undefined {
  const missing = [path];
  for (let above = dirname(path); !existsSync(above); above = dirname(above)) missing.unshift(above);
  let first: string | undefined;
  for (const folder of missing) if (makeOne(folder)) first ??= folder;
  return first;
}

/** Another process may be faster. */
function makeOne(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !statSync(folder).isDirectory()) throw error; // of the system
    return false;
  }
}
