import { constants, openSync, readlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file that nobody else has open, without a name that would be left behind. Undefined where none can be made: then marks must do. */
export function openToken(id: string): { descriptor: number; path: string } | undefined {
  try {
    const name = join(tmpdir(), `outrider-${id}`);
    const descriptor = openSync(name, constants.O_RDONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    unlinkSync(name);
    return { descriptor, path: readlinkSync(`/proc/self/fd/${descriptor}`) };
  } catch {
    return undefined;
  }
}
