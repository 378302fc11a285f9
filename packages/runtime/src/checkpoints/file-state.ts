import { constants, lstatSync, realpathSync, type Stats } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";
import { dirname, sep } from "node:path";

/** Why no copy of a file is kept. */
export type UncoveredReason = "too-large" | "special" | "unreadable" | "git";

/** What is at a path. `mode` is missing where only the content is known: a write that was announced. */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly hash: string; readonly size: number; readonly mode?: number }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "directory" }
  | { readonly kind: "uncovered"; readonly reason: UncoveredReason; readonly size?: number };

/** What is at `path` now, by content. The last part of the path is never followed. */
export async function readState(path: string, maxBytes: number): Promise<FileState> {
  return await readContent(path, { maxBytes, take: async () => {} });
}

export type Reading = {
  readonly maxBytes: number;
  /** Given each piece of a regular file; `undefined` when what was given so far is void because the file changed meanwhile. */
  readonly take: (piece: Uint8Array | undefined) => Promise<void>;
};

const attempts = 3;

/** Like `readState`, and hands over the bytes. A file that is being written to is read again until two looks at it agree. */
export async function readContent(path: string, { maxBytes, take }: Reading): Promise<FileState> {
  for (let attempt = 1; ; attempt++) {
    const seen = stateWithoutContent(path, maxBytes);
    if (!("ino" in seen)) return seen.kind === "link" ? { kind: "link", to: await readlink(path) } : seen;
    const read = await readRegularFile(path, take);
    if (read === "gone") continue;
    if (read === "unreadable") return { kind: "uncovered", reason: "unreadable" };
    if (!read.changed || attempt >= attempts) return read.state;
    await take(undefined);
  }
}

export function sameContent(a: FileState, b: FileState): boolean {
  switch (a.kind) {
    case "file":
      return b.kind === "file" && a.hash === b.hash;
    case "link":
      return b.kind === "link" && a.to === b.to;
    case "absent":
    case "directory":
      return a.kind === b.kind;
    case "uncovered":
      return false;
  }
}

export function sameMode(a: FileState, b: FileState): boolean {
  if (a.kind !== "file" || b.kind !== "file") return true;
  return a.mode === undefined || b.mode === undefined || a.mode === b.mode;
}

/** Why nothing may be put at `path`: a folder on the way has become a link or a file. Links are not followed to wherever they lead now. */
export function pathObstacle(path: string): string | undefined {
  let folder = dirname(path);
  for (; folder !== dirname(folder); folder = dirname(folder)) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) return `${folder} is a symbolic link now`;
    if (stats?.isDirectory()) break;
    if (stats) return `${folder} is no folder any more`;
  }
  try {
    return realpathSync(folder) === folder ? undefined : `${folder} leads through a symbolic link now`;
  } catch (error) {
    return `${folder} cannot be looked at (${(error as NodeJS.ErrnoException).code})`; // fs throws nothing else
  }
}

/** The folders on the way to `path` that do not exist, deepest first. */
export function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (lstatSync(folder, { throwIfNoEntry: false })) break;
    missing.push(folder);
  }
  return missing;
}

export function isInsideGit(path: string): boolean {
  return path.split(sep).includes(".git");
}

type WithoutContent = { kind: "link" } | Exclude<FileState, { kind: "file" | "link" }>;

function stateWithoutContent(path: string, maxBytes: number): Stats | WithoutContent {
  const stats = look(path);
  if (!stats) return { kind: "absent" };
  if (stats.isSymbolicLink()) return { kind: "link" };
  if (stats.isDirectory()) return { kind: "directory" };
  if (!stats.isFile()) return { kind: "uncovered", reason: "special" };
  return stats.size > maxBytes ? { kind: "uncovered", reason: "too-large", size: stats.size } : stats;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined; // fs throws nothing else
    throw error;
  }
}

type Read = { state: FileState; changed: boolean };

async function readRegularFile(path: string, take: (piece: Uint8Array) => Promise<void>): Promise<Read | "gone" | "unreadable"> {
  let file: FileHandle;
  try {
    // Something else may have taken the file's place: a link is not followed, a pipe not waited for.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // fs throws nothing else
    if (code === "ENOENT" || code === "ELOOP" || code === "ENOTDIR") return "gone";
    if (code === "EACCES" || code === "EPERM") return "unreadable";
    throw error;
  }
  try {
    const before = await file.stat();
    if (!before.isFile()) return "gone";
    const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
    const piece = Buffer.allocUnsafe(Math.min(Math.max(before.size + 1, 4096), 256 * 1024));
    let size = 0;
    for (let bytes = -1; bytes !== 0; size += bytes) {
      bytes = (await file.read(piece, 0, piece.length, null)).bytesRead;
      hash.update(piece.subarray(0, bytes));
      if (bytes > 0) await take(piece.subarray(0, bytes));
    }
    const after = await file.stat();
    const changed = after.mtimeMs !== before.mtimeMs || size !== after.size;
    return { state: { kind: "file", hash: hash.digest("hex"), size, mode: after.mode & 0o7777 }, changed };
  } finally {
    await file.close();
  }
}
