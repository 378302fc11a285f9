import { constants, realpathSync, type Stats, statSync } from "node:fs";
import { access, type FileHandle, mkdir, open, readdir, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, parse, resolve as resolvePath } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { ProcessScope } from "./process-scope.ts";
import type { DirectoryEntry, FileStat, Workspace } from "./workspace.ts";

export type LocalWorkspaceOptions = {
  readonly root: string;
  /** What `~/` stands for; `HOME` of `env` when absent. */
  readonly home?: string;
  /** The whole environment of the programs that are run. */
  readonly env: Readonly<Record<string, string>>;
  readonly overflowDirectory: string;
};

const defaultMaxBytes = 256 * 1024 * 1024;
const maxLinks = 40;

/** The machine this process runs on. */
export function createLocalWorkspace(options: LocalWorkspaceOptions): Workspace {
  const root = realDirectory(options.root);
  const home = options.home ?? options.env["HOME"];
  const processes = new ProcessScope(options.env);
  const absolute = (path: string): string => resolvePath(root, path);
  const resolve = async (path: string): Promise<string> => realPath(absolute(expandPath(path, home)));

  return {
    root,
    resolve,
    stat: (path) => statOf(absolute(path)),
    readFile: (path, { maxBytes = defaultMaxBytes } = {}) => readRegularFile(absolute(path), maxBytes),
    writeFile: async (path, content) => replaceFile(await resolve(path), content),
    readDirectory: (path) => listDirectory(absolute(path)),
    run: (command) => processes.run({ ...command, cwd: absolute(command.cwd ?? ".") }),
    saveOverflow: (name, content) => saveNewFile(absolute(options.overflowDirectory), { name, content }),
    close: () => processes.close(),
  };
}

function realDirectory(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw failure(path, { verb: "opened", error });
  }
  throw new RuntimeError("usage", `${path} is not a directory.`);
}

function expandPath(path: string, home: string | undefined): string {
  if (path === "") throw new RuntimeError("usage", "The path is empty.");
  if (path.includes("\0")) throw new RuntimeError("usage", "The path holds a NUL character.");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) throw new RuntimeError("usage", `${path} is a URL; a file path is expected.`);
  if (path !== "~" && !path.startsWith("~/")) return path;
  if (!home) throw new RuntimeError("usage", `${path} cannot be resolved: the home directory is not known.`);
  return join(home, path.slice(1));
}

/** Like realpath(3), but the last parts need not exist, and a link that leads to nothing yet is followed as a write would follow it. */
async function realPath(path: string, links: number = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw failure(path, { verb: "resolved", error });
    if (links > maxLinks) throw failure(path, { verb: "resolved", error: { code: "ELOOP" } });
  }
  if (path === parse(path).root) return path;
  const target = await readlink(path).catch(() => undefined);
  const parent = await realPath(dirname(path), links);
  return target === undefined ? join(parent, basename(path)) : realPath(resolvePath(parent, target), links + 1);
}

/** Synchronous inside: a look at one file takes microseconds, the way through the thread pool a hundred times that. */
async function statOf(path: string): Promise<FileStat | undefined> {
  try {
    const stats = statSync(path);
    return { kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs, mode: stats.mode };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw failure(path, { verb: "looked at", error });
  }
}

async function readRegularFile(path: string, maxBytes: number): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    refuseOtherThanFile(path, await stat(path)); // before opening, which is an event for some devices
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // a pipe that took its place would block us for ever
    const stats = await file.stat();
    refuseOtherThanFile(path, stats);
    if (stats.size > maxBytes) throw tooLarge(path, { size: stats.size, maxBytes });
    return await readToEnd(file, { path, expected: stats.size, maxBytes });
  } catch (error) {
    throw failure(path, { verb: "read", error });
  } finally {
    await file?.close();
  }
}

/** The size is only a guess: files grow while they are read, and those of /proc claim to be empty. */
async function readToEnd(file: FileHandle, facts: { path: string; expected: number; maxBytes: number }): Promise<Uint8Array> {
  let bytes = Buffer.allocUnsafe(Math.max(facts.expected + 1, 4096));
  let length = 0;
  while (true) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
    length += bytesRead;
    if (length > facts.maxBytes) throw tooLarge(facts.path, { size: length, maxBytes: facts.maxBytes });
    if (bytesRead === 0) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}

async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.outrider-${randomUuid()}.tmp`);
  try {
    const before = await stat(path).catch(() => undefined);
    if (before) refuseOtherThanFile(path, before);
    if (before)
      await access(path, constants.W_OK); // a rename would not ask
    else await mkdir(directory, { recursive: true });
    const file = await open(temporary, "wx", before ? 0o600 : 0o666);
    try {
      await file.writeFile(content);
      if (before) await takeOver(file, before);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first failure is the one to tell
    throw failure(path, { verb: "written", error });
  }
}

async function takeOver(file: FileHandle, before: Stats): Promise<void> {
  const now = await file.stat();
  // Only root can keep another owner; for everyone else the file becomes theirs, as with any editor that renames.
  if (now.uid !== before.uid || now.gid !== before.gid) await file.chown(before.uid, before.gid).catch(() => {});
  await file.chmod(before.mode & 0o777);
}

async function listDirectory(path: string): Promise<DirectoryEntry[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .map((entry) => ({ name: entry.name, kind: entry.isSymbolicLink() ? ("symlink" as const) : kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw failure(path, { verb: "listed", error });
  }
}

async function saveNewFile(directory: string, { name, content }: { name: string; content: string }): Promise<string> {
  const { name: stem, ext } = parse(name.replaceAll(/[^\w.-]+/g, "-").replace(/^[.-]+/, ""));
  const path = join(directory, `${stem}-${randomUuid().slice(0, 8)}${ext}`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(path, content, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw failure(path, { verb: "written", error });
  }
  return path;
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): "file" | "directory" | "other" {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

function refuseOtherThanFile(path: string, stats: Stats): void {
  const kind = kindOf(stats);
  if (kind === "directory") throw new RuntimeError("usage", `${path} is a directory, not a file.`);
  if (kind === "other") throw new RuntimeError("usage", `${path} is a device, pipe or socket, not a regular file.`);
}

function tooLarge(path: string, facts: { size: number; maxBytes: number }): RuntimeError {
  return new RuntimeError(
    "usage",
    `${path} is too large to be read whole: ${facts.size} bytes, and ${facts.maxBytes} are allowed.`,
  );
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "a part of the path is a file, not a directory",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file, not a directory",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
};

function failure(path: string, { verb, error }: { verb: string; error: unknown }): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const code = codeOf(error);
  if (code === "ENOENT") return new RuntimeError("not-found", `${path} does not exist.`, { cause: error });
  const reason = reasons[code] ?? (error instanceof Error ? error.message : code);
  return new RuntimeError("usage", `${path} could not be ${verb}: ${reason}.`, { cause: error });
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
