import { chmodSync, constants, lchownSync, lstatSync } from "node:fs";
import { open, readdir, rename, rm, rmdir, symlink, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import { syncFolder } from "../util/sync-folder.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { Blobs } from "./blobs.ts";
import { type FileState, missingFolders, pathObstacle, readState, sameContent, sameMode } from "./file-state.ts";
import { messageOf } from "../util/message-of.ts";

/** One file on its way from what it holds, a copy of which is kept, to what it shall hold. */
export type Step = { readonly path: string; readonly from: FileState; readonly to: FileState };

export type Applying = {
  readonly blobs: Blobs;
  readonly maxFileBytes: number;
  readonly sync: boolean;
  /** In the names of temporary files, so that those of an interrupted run are found. */
  readonly token: string;
  /** Folders to remove when they are empty afterwards, deepest first. */
  readonly emptied: readonly string[];
};

/** The files were put back as they were. */
export class ApplyUndone extends Error {
  override readonly name = "ApplyUndone";
}

/**
 * All steps or none: what takes space is done first, beside the files; then each file changes by one rename. When one of them cannot,
 * those before it are put back and `ApplyUndone` is thrown. Any other error means that even that failed.
 */
export async function applySteps(steps: readonly Step[], applying: Applying): Promise<void> {
  const made = [...new Set(steps.flatMap(({ path }) => missingFolders(path)))].sort((a, b) => b.length - a.length);
  const done: Step[] = [];
  try {
    for (const [index, step] of steps.entries()) await stage(step, { applying, index });
    for (const [index, step] of steps.entries()) {
      await commit(step, { applying, index });
      done.push(step);
    }
  } catch (error) {
    await sweep(steps, applying.token);
    await putBack(done, applying);
    await removeEmptyFolders(made);
    throw new ApplyUndone(messageOf(error), { cause: error });
  }
  await removeEmptyFolders(applying.emptied);
  if (applying.sync) for (const folder of new Set(steps.map(({ path }) => dirname(path)))) await syncIfThere(folder);
}

/** Removes what an interrupted run left beside the files. */
export async function sweep(steps: readonly Step[], token: string): Promise<void> {
  for (const folder of new Set(steps.map(({ path }) => dirname(path)))) {
    const names = await readdir(folder).catch(() => []); // a folder that is gone holds nothing
    for (const name of names) if (name.startsWith(temporaryPrefix(token))) await rm(join(folder, name), { force: true });
  }
}

export async function removeEmptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await rmdir(folder).catch(() => {}); // not empty, or gone: both are fine
}

type Place = { readonly applying: Applying; readonly index: number };

async function stage({ path, from, to }: Step, { applying, index }: Place): Promise<void> {
  const temporary = temporaryOf(path, applying.token, index);
  if (to.kind !== "file" && to.kind !== "link") return;
  if (to.kind === "file" && sameContent(from, to)) return;
  const obstacle = pathObstacle(path);
  if (obstacle !== undefined) throw new RuntimeError("busy", obstacle);
  makeFolder(dirname(path), 0o777);
  if (to.kind === "link") return await symlink(to.to, temporary);
  await applying.blobs.copyTo(to, temporary);
  keepOwner(path, temporary, to.mode);
}

/** The last look is right before the rename, so that nothing is overwritten that was not looked at. */
async function commit(step: Step, { applying, index }: Place): Promise<void> {
  const { path, from, to } = step;
  const obstacle = pathObstacle(path);
  if (obstacle !== undefined) throw new RuntimeError("busy", obstacle);
  const current = await readState(path, applying.maxFileBytes);
  if (!sameContent(current, from) || !sameMode(current, from))
    throw new RuntimeError("busy", `${path} was changed by somebody else just now`);
  if (to.kind === "absent") return await unlink(path);
  if (to.kind === "file" && sameContent(from, to)) return await changeMode(path, to.mode);
  await rename(temporaryOf(path, applying.token, index), path);
}

async function putBack(done: readonly Step[], applying: Applying): Promise<void> {
  for (const [index, { path, from, to }] of [...done.entries()].reverse()) {
    const back: Step = { path, from: to, to: from };
    await stage(back, { applying, index });
    await commit(back, { applying, index });
  }
}

async function changeMode(path: string, mode: number | undefined): Promise<void> {
  if (mode === undefined) return;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

/** Only root can keep another owner; for everyone else the file becomes theirs, as with any editor that renames. */
function keepOwner(path: string, temporary: string, mode: number | undefined): void {
  const before = lstatSync(path, { throwIfNoEntry: false });
  if (!before || process.getuid?.() !== 0) return;
  lchownSync(temporary, before.uid, before.gid);
  if (mode !== undefined) chmodSync(temporary, mode); // a new owner takes some bits away
}

function temporaryOf(path: string, token: string, index: number): string {
  return join(dirname(path), `${temporaryPrefix(token)}${index}.tmp`);
}

function temporaryPrefix(token: string): string {
  return `.outrider-${token}-`;
}

async function syncIfThere(folder: string): Promise<void> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) await syncFolder(folder);
}
