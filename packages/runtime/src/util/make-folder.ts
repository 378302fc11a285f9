import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder only its owner may look into, and those it lies in; answers the first that is new. Node says of a file system that
 * cannot be written to that there is no such folder: here the error is the one of the system.
 */
export function makeFolder(path: string): string | undefined {
  try {
    return mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    let missing = path;
    while (!existsSync(dirname(missing))) missing = dirname(missing);
    mkdirSync(missing, { mode: 0o700 }); // throws what is wrong
    throw error;
  }
}
