import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Puts a whole file in its place at once: a reader finds the old one or the new one. Done when it returns, so that the very next
 * thing may be the end of the process; `isLasting` also waits for the disk, as the end of the machine asks for.
 */
export function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
  { isLasting = true }: { readonly isLasting?: boolean } = {},
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  makeFolder(dirname(path));
  try {
    const file = openSync(temporary, "w", 0o644);
    try {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      if (isLasting) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Folder by folder: Node's own way goes round for ever where the system says that a folder which is there is not, as in /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // else somebody was quicker
  }
}
