import { withoutGitPlaces } from "./git-places.ts";
import { constants, lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { type FileHandle, open, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, parse, resolve as resolvePath } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { makeFolder } from "../util/make-folder.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { type HeldDirectory, holdDirectory, leadsElsewhere, noFollow, requireItself, requireNoLink } from "./exact-path.ts";
import { codeOf, fileFailure, kindOf, refuseOtherThanFile } from "./file-failure.ts";
import type { GivenVariables } from "./environment.ts";
import type { ExportedVariables } from "./exported-variables.ts";
import type { LocalCommand, LocalProcess } from "./process.ts";
import type { ProcessScope } from "./process-scope.ts";
import { type OtherRoot, withOtherRoots } from "./other-roots.ts";
import type { OwnFolder } from "./own-folder.ts";
import { closedWorkspace, neverStarted, runToEnd } from "./run-to-end.ts";
import type { DirectoryEntry, FileStat, PathUse, ProgramCommand, Workspace } from "./workspace.ts";

export type LocalWorkspaceOptions = {
  readonly root: string;
  /** What `~/` stands for; `HOME` of `env` when absent. */
  readonly home?: string;
  /** The whole environment of programs the user has let run. */
  readonly env: Readonly<Record<string, string>>;
  /** That of all others; the same when absent. */
  readonly carefulEnv?: (() => GivenVariables) | undefined;
  /** What the user lets run belongs to somebody who is not trusted: it counts as the others. */
  readonly untrusted?: boolean | undefined;
  /** What hooks have set for commands. */
  readonly exported?: ExportedVariables | undefined;
  readonly overflowDirectory: string;
  /** For temporary files of commands. */
  readonly temporaryFolder?: OwnFolder | undefined;
};

export interface LocalWorkspace extends Workspace {
  /** A program that works for us, such as a box: started even if its signal is aborted already. */
  launch(command: LocalCommand): Promise<LocalProcess>;
  /** The same machine, the same variables, another root; ends by itself. */
  beside(other: OtherRoot): LocalWorkspace;
}

const defaultMaxBytes = 256 * 1024 * 1024;

/** The machine this process runs on. */
export function createLocalWorkspace(options: LocalWorkspaceOptions): LocalWorkspace {
  const root = realDirectory(options.root);
  const home = options.home ?? options.env["HOME"];
  /** Loaded with the first program: many runs start none. */
  let processes: Promise<ProcessScope> | undefined;
  let isClosed = false;
  let stopped: readonly string[] = [];
  // Not async: what asked for it before `close` gets it before `close` does, and is ended by that.
  const scope = (): Promise<ProcessScope> => {
    if (isClosed) throw closedWorkspace();
    processes ??= import("./process-scope.ts").then((scopes) => new scopes.ProcessScope());
    return processes;
  };
  const given = { env: options.env, withheld: [] };
  const variablesFor = ({ unboxed, place }: ProgramCommand): GivenVariables => {
    if (unboxed) return given;
    const isCareful = (place !== "outside" || options.untrusted === true) && options.carefulEnv !== undefined;
    const usual = isCareful ? options.carefulEnv() : given;
    return options.exported?.beside(usual, isCareful) ?? usual;
  };
  const absolute = (path: string): string => resolvePath(root, path);
  const resolve = async (path: string): Promise<string> => {
    const named = absolute(expandPath(path, home));
    return isReal(named) ? named : (await import("./real-path.ts")).realPath(named);
  };
  const launch: LocalWorkspace["launch"] = async (command) => {
    const { env, withheld } = variablesFor(command);
    command.onPlace?.({ place: "outside", network: "open", withheld });
    const temporary = command.ownTemporary && options.temporaryFolder?.make();
    return await (await scope()).start({
      ...command,
      cwd: absolute(command.cwd ?? "."),
      env: { ...env, ...(temporary && { TMPDIR: temporary }), ...command.env },
    });
  };
  let areEnded: Promise<boolean> | undefined;
  const start: Workspace["start"] = async (command) => (command.signal?.aborted ? neverStarted() : await launch(command));

  const workspace: Omit<LocalWorkspace, "at"> = {
    root,
    resolve,
    stat: (path, use) => statOf(absolute(path), use),
    readFile: (path, { maxBytes = defaultMaxBytes, ...use } = {}) => readRegularFile(absolute(path), { ...use, maxBytes }),
    writeFile: async (path, content, use) => {
      const { replaceFile } = await import("./replace-file.ts");
      await replaceFile(use?.exact ? absolute(path) : await resolve(path), content, use?.over);
    },
    removeFile: async (path, use) => {
      const { removeFile } = await import("./remove-file.ts");
      await removeFile(use?.exact ? absolute(path) : await resolve(path));
    },
    readDirectory: (path, use) => listDirectory(absolute(path), use),
    run: (command) => runToEnd(start, command),
    start,
    launch,
    beside: (other) => createLocalWorkspace({ ...options, ...other, ...elsewhere(options) }),
    saveOverflow: (name, content) => saveNewFile(absolute(options.overflowDirectory), { name, content }),
    async close() {
      isClosed = true;
      const opened = await processes;
      await opened?.close();
      stopped = opened?.stopped ?? [];
    },
    stopped: () => stopped,
    watch: async (path, onOutput) => (await import("./watch-path.ts")).watchPath(await resolve(path), onOutput),
    endsProcesses() {
      areEnded ??= import("./own-limit.ts").then((limits) => limits.whyProcessesMayStay() === undefined);
      return areEnded;
    },
  };
  return withOtherRoots<LocalWorkspace>(workspace, {
    overflowDirectory: absolute(options.overflowDirectory),
    open: async (other) => workspace.beside(other),
  });
}

/** The variables for another root: those that name this root's repository would mislead git there. */
function elsewhere({ env, carefulEnv }: LocalWorkspaceOptions): Pick<LocalWorkspaceOptions, "env" | "carefulEnv"> {
  const careful = (): GivenVariables => {
    const given = carefulEnv?.() ?? { env, withheld: [] };
    return { ...given, env: withoutGitPlaces(given.env) };
  };
  return { env: withoutGitPlaces(env), ...(carefulEnv && { carefulEnv: careful }) };
}

function realDirectory(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw fileFailure(path, { verb: "opened", error });
  }
  throw new RuntimeError("usage", `${path} is not a directory.`);
}

/** Without a link on the way to it, as far as it is there. */
function isReal(path: string): boolean {
  try {
    return realpathSync.native(path) === path;
  } catch {
    return isAbsent(path) && isReal(dirname(path));
  }
}

/** Not even a link that leads nowhere. */
function isAbsent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function expandPath(path: string, home: string | undefined): string {
  if (path === "") throw new RuntimeError("usage", "The path is empty.");
  if (path.includes("\0")) throw new RuntimeError("usage", "The path holds a NUL character. Give it without.");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) throw new RuntimeError("usage", `${path} is a URL; a file path is expected.`);
  if (path !== "~" && !path.startsWith("~/")) return path;
  if (!home) throw new RuntimeError("usage", `${path} cannot be resolved: the home directory is not known.`);
  return join(home, path.slice(1));
}

async function statOf(path: string, { exact }: PathUse = {}): Promise<FileStat | undefined> {
  try {
    const stats = statSync(path);
    if (exact) requireNoLink(path);
    return { kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs, mode: stats.mode, inode: stats.ino };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw fileFailure(path, { verb: "looked at", error });
  }
}

async function readRegularFile(path: string, { maxBytes, exact }: PathUse & { maxBytes: number }): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    refuseOtherThanFile(path, exact ? statItself(path) : await stat(path)); // before opening, which is an event for some devices
    // A pipe that took its place would block us for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | (exact ? noFollow : 0));
    if (exact) requireItself(file.fd, path);
    const stats = await file.stat();
    refuseOtherThanFile(path, stats);
    if (stats.size > maxBytes) throw tooLarge(path, { size: stats.size, maxBytes });
    return await readToEnd(file, { path, expected: stats.size, maxBytes });
  } catch (error) {
    if (exact && codeOf(error) === "ELOOP") throw leadsElsewhere(path);
    throw fileFailure(path, { verb: "read", error });
  } finally {
    await file?.close();
  }
}

function statItself(path: string): Stats {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) throw leadsElsewhere(path);
  return stats;
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

async function listDirectory(path: string, { exact }: PathUse = {}): Promise<DirectoryEntry[]> {
  try {
    return exact ? await listHeld(holdDirectory(path)) : await entriesOf(path);
  } catch (error) {
    throw fileFailure(path, { verb: "listed", error });
  }
}

async function listHeld(directory: HeldDirectory): Promise<DirectoryEntry[]> {
  try {
    const entries = await entriesOf(directory.place);
    directory.check();
    return entries;
  } finally {
    directory.close();
  }
}

async function entriesOf(path: string): Promise<DirectoryEntry[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .map((entry) => ({ name: entry.name, kind: entry.isSymbolicLink() ? ("symlink" as const) : kindOf(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function saveNewFile(
  directory: string,
  { name, content }: { name: string; content: string | Uint8Array },
): Promise<string> {
  const { name: stem, ext } = parse(name.replaceAll(/[^\w.-]+/g, "-").replace(/^[.-]+/, ""));
  const path = join(directory, `${stem}-${randomUuid().slice(0, 8)}${ext}`);
  try {
    makeFolder(directory);
    await writeFile(path, content, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw fileFailure(path, { verb: "written", error });
  }
  return path;
}

function tooLarge(path: string, facts: { size: number; maxBytes: number }): RuntimeError {
  return new RuntimeError(
    "usage",
    `${path} is too large to be read whole: ${facts.size} bytes, and ${facts.maxBytes} are allowed.`,
  );
}
