import { dirname } from "node:path";
import { makeFolder } from "../../../util/make-folder.ts";
import { replaceFileSync } from "../../../util/replace-file.ts";

/** A file for others to read, in its place at once and with the folders on the way. */
export function writeSharedFile(
  path: string,
  content: string | Uint8Array,
  { isLasting = true }: { readonly isLasting?: boolean } = {},
): void {
  makeFolder(dirname(path), 0o777);
  replaceFileSync(path, content, { mode: 0o644, isLasting });
}
