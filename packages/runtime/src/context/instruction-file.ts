import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { isInside } from "../util/is-inside.ts";

export type OpenedFile =
  | { type: "absent" }
  | { type: "refused"; reason: string }
  /** `cut` bytes at the end were left out. */
  | { type: "read"; realPath: string; text: string; bytes: number; cut: number };

const maxBytes = 64 * 1024;

/** Reads one file; `within` is the folder it must be in after all links are followed. Never throws. */
export function openInstructionFile(path: string, within: string | undefined): OpenedFile {
  try {
    if (!statSync(path, { throwIfNoEntry: false })) return { type: "absent" };
    const realPath = realpathSync(path);
    if (within !== undefined && !isInside(realpathSync(within), realPath))
      return { type: "refused", reason: "it leads out of the project" };
    return read(realPath);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    return code === "ENOENT" || code === "ENOTDIR" ? { type: "absent" } : { type: "refused", reason: message };
  }
}

function read(realPath: string): OpenedFile {
  // Not blocking and not following: a pipe would wait for ever, and a link put there just now leads elsewhere.
  const descriptor = openSync(realPath, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { type: "refused", reason: "it is no regular file" };
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes));
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
    if (bytes.includes(0)) return { type: "refused", reason: "it is no text" };
    const cut = stat.size - bytes.length;
    return { type: "read", realPath, text: toText(bytes, cut), bytes: bytes.length, cut };
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes that are no UTF-8 become U+FFFD; half a character where the file was cut is dropped. */
function toText(bytes: Uint8Array, cut: number): string {
  const text = new TextDecoder("utf-8").decode(bytes, { stream: cut > 0 });
  return cut > 0 ? `${text}\n[… ${cut} bytes more were left out …]` : text;
}
