import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFileSync } from "../../../util/replace-file.ts";

/** A file for others to read, in its place at once and with the folders on the way. */
export function writeSharedFile(
  path: string,
  content: string | Uint8Array,
  { isLasting = true }: { readonly isLasting?: boolean } = {},
): void {
  makeFolder(dirname(path));
  replaceFileSync(path, content, { mode: 0o644, isLasting });
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
