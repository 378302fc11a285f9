import { accessSync, constants, lstatSync, mkdirSync, renameSync, type Stats } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { type HeldDirectory, holdDirectory, leadsElsewhere, noFollow, requireItself } from "./exact-path.ts";
import { codeOf, fileFailure, refuseOtherThanFile } from "./file-failure.ts";
import type { WriteUse } from "./workspace.ts";

/**
 * Writes the file at a real path, whole or not at all. A link that took a place in the path since is refused, never followed, and so is
 * a file that is not `over` any more.
 */
export async function replaceFile(path: string, content: Uint8Array | string, over?: WriteUse["over"]): Promise<void> {
  try {
    const directory = holdOrMake(dirname(path));
    try {
      await replaceIn(directory, { path, content, over });
    } finally {
      directory.close();
    }
  } catch (error) {
    throw fileFailure(path, { verb: "written", error });
  }
}

/** One directory at a time, each made in one that is held: what is swapped meanwhile gets no new directories in it. */
function holdOrMake(path: string): HeldDirectory {
  try {
    return holdDirectory(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || path === dirname(path)) throw error;
  }
  const parent = holdOrMake(dirname(path));
  try {
    mkdirSync(`${parent.place}/${basename(path)}`);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    parent.close();
  }
  return holdDirectory(path);
}

const asNewFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;

async function replaceIn(
  directory: HeldDirectory,
  { path, content, over }: { path: string; content: Uint8Array | string; over: WriteUse["over"] },
): Promise<void> {
  const target = `${directory.place}/${basename(path)}`;
  const name = `.outrider-${randomUuid()}.tmp`;
  const temporary = `${directory.place}/${name}`;
  const before = lstatSync(target, { throwIfNoEntry: false });
  if (before?.isSymbolicLink()) throw leadsElsewhere(path);
  if (before) {
    refuseOtherThanFile(path, before);
    accessSync(target, constants.W_OK); // a rename would not ask
  }
  try {
    const file = await open(temporary, asNewFile, before ? 0o600 : 0o666);
    try {
      requireItself(file.fd, join(dirname(path), name));
      await file.writeFile(content);
      if (before) await takeOver(file, before);
    } finally {
      await file.close();
    }
    directory.check();
    if (over !== undefined) requireSame(lstatSync(target, { throwIfNoEntry: false }), over, path);
    renameSync(temporary, target); // at once, so that no other session comes in between; a link that is there by now is replaced, not followed
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first failure is the one to tell
    throw error;
  }
}

function requireSame(now: Stats | undefined, before: WriteUse["over"], path: string): void {
  const isSame = now ? before?.inode === now.ino && before.mtimeMs === now.mtimeMs && before.size === now.size : before === null;
  if (!isSame) throw new RuntimeError("busy", `${path} was changed by somebody else meanwhile.`, { retryable: true });
}

async function takeOver(file: FileHandle, before: Stats): Promise<void> {
  const now = await file.stat();
  // Only root can keep another owner; for everyone else the file becomes theirs, as with any editor that renames.
  if (now.uid !== before.uid || now.gid !== before.gid) await file.chown(before.uid, before.gid).catch(() => {});
  await file.chmod(before.mode & 0o777);
}
