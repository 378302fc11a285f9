import { accessSync, constants, lstatSync, mkdirSync, type Stats } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { randomUuid } from "../util/unique-ids.ts";
import { type HeldDirectory, holdDirectory, leadsElsewhere, noFollow, requireItself } from "./exact-path.ts";
import { codeOf, fileFailure, refuseOtherThanFile } from "./file-failure.ts";

/** Writes the file at a real path, whole or not at all. A link that took a place in the path since is refused, never followed. */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  try {
    const directory = holdOrMake(dirname(path));
    try {
      await replaceIn(directory, { path, content });
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
  { path, content }: { path: string; content: Uint8Array | string },
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
    await rename(temporary, target); // a link that is there by now is replaced, not followed
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first failure is the one to tell
    throw error;
  }
}

async function takeOver(file: FileHandle, before: Stats): Promise<void> {
  const now = await file.stat();
  // Only root can keep another owner; for everyone else the file becomes theirs, as with any editor that renames.
  if (now.uid !== before.uid || now.gid !== before.gid) await file.chown(before.uid, before.gid).catch(() => {});
  await file.chmod(before.mode & 0o777);
}
