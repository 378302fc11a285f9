import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "./sync-folder.ts";
import { randomUuid } from "./unique-ids.ts";

export type ReplaceOptions = {
  /** Of the new file, whatever the old one had; only the user's when absent. */
  readonly mode?: number | undefined;
  /** Waits for the disk: the file outlives the end of the machine, not only that of the process. */
  readonly isLasting?: boolean | undefined;
};

/** Puts a whole file in its place at once: whoever reads it finds the old one or the new one. When it fails, the old one stays alone. */
export async function replaceFile(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): Promise<void> {
  await replaceFileWith(path, async (temporary) => {
    const file = await open(temporary, "wx", options.mode ?? 0o600);
    try {
      await file.writeFile(content);
      if (options.isLasting) await file.datasync();
    } finally {
      await file.close();
    }
  });
  if (options.isLasting) await syncFolder(dirname(path));
}

/** The same, done when it returns: the very next thing may be the end of the process. The name of a new file may be lost with the machine. */
export function replaceFileSync(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): void {
  const temporary = temporaryFor(path);
  try {
    const file = openSync(temporary, "wx", options.mode ?? 0o600);
    try {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      if (options.isLasting) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    discard(temporary);
    throw error;
  }
}

/** For a file that is written bit by bit: `write` makes it under another name, which it gives up when `write` is done. */
export async function replaceFileWith<T>(path: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = temporaryFor(path);
  try {
    const written = await write(temporary);
    await rename(temporary, path);
    return written;
  } catch (error) {
    discard(temporary);
    throw error;
  }
}

/** Beside it, since only there it can be renamed; what a crash leaves is known by its end. */
function temporaryFor(path: string): string {
  return join(dirname(path), `${basename(path).slice(0, longestName)}.${randomUuid()}.tmp`);
}

/** In characters that may take three bytes each: with what is added a name has at most 255 bytes. */
const longestName = 70;

function discard(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // It was never made: the first failure is the one to tell.
  }
}
