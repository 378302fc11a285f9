import { existsSync, fstatSync, lstatSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { fromHere } from "./run-report.ts";

/** A git work tree as it was when it was looked at. */
export interface WorkTree {
  /** What is different by now: changed, new, gone or committed. Undefined when git cannot say in that time. */
  changes(timeoutMs: number): Promise<readonly string[] | undefined>;
}

/** Undefined where there is no work tree, or git takes too long. `own`: files and folders that the command writes itself, which are no changes. */
export async function lookAtWorkTree(cwd: string, timeoutMs: number, own: readonly string[] = []): Promise<WorkTree | undefined> {
  const before = await takeSnapshot(cwd, timeoutMs);
  if (!before) return undefined;
  return {
    async changes(patienceMs) {
      const after = await takeSnapshot(cwd, patienceMs);
      if (after?.root !== before.root) return undefined;
      const paths = [...before.entries.keys(), ...after.entries.keys()];
      const changed = new Set(paths.filter((path) => before.entries.get(path) !== after.entries.get(path)));
      for (const path of await committedBetween(before, after, patienceMs)) changed.add(path);
      const isOwn = lookForOwn(own);
      const places = [...changed].map((path) => join(before.root, path)).filter((path) => !isOwn(path));
      return places.map((path) => fromHere(cwd, path)).sort();
    },
  };
}

/** Also the files that stdout and stderr were sent to. */
function lookForOwn(own: readonly string[]): (path: string) => boolean {
  const places = own.map((path) => (existsSync(path) ? realpathSync(path) : resolve(path)));
  const streams = [1, 2].flatMap((descriptor) => {
    try {
      return [fstatSync(descriptor)].filter((found) => found.isFile());
    } catch {
      return []; // closed
    }
  });
  return (path) => {
    if (places.some((place) => path === place || path.startsWith(place + sep))) return true;
    const found = streams.length > 0 ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    return found !== undefined && streams.some(({ dev, ino }) => dev === found.dev && ino === found.ino);
  };
}

type Snapshot = {
  readonly root: string;
  /** The commit; undefined before the first. */
  readonly head: string | undefined;
  /** What differs from the commit, by its path from the root, with all that tells one state of it from another. */
  readonly entries: ReadonlyMap<string, string>;
};

/** Looking at a file costs a system call; beyond this many the words of git must do. */
const maxStamps = 5_000;

async function takeSnapshot(cwd: string, timeoutMs: number): Promise<Snapshot | undefined> {
  try {
    const git = (args: readonly string[]): Promise<string> => runGit(cwd, args, timeoutMs);
    const [top, status] = await Promise.all([git(["rev-parse", "--show-toplevel"]), git(statusWords)]);
    const root = top.replace(/\n$/, "");
    return root === "" ? undefined : { root, ...readStatus(root, status) };
  } catch {
    return undefined; // no git, no work tree, too slow, or more than fits
  }
}

const statusWords = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"];

function readStatus(root: string, status: string): Pick<Snapshot, "head" | "entries"> {
  const entries = new Map<string, string>();
  let head: string | undefined;
  for (const line of status.split("\0")) {
    const [kind, words = ""] = [line.slice(0, 1), line.slice(2)];
    if (line.startsWith("# branch.oid ")) head = /^[0-9a-f]{40,64}$/.exec(line.slice("# branch.oid ".length))?.[0];
    if (!/[12u?]/.test(kind)) continue;
    const path =
      kind === "?"
        ? words
        : words
            .split(" ")
            .slice(kind === "u" ? 9 : 7)
            .join(" ");
    if (path === "") continue;
    const facts = kind === "?" ? "?" : words.slice(0, words.length - path.length);
    entries.set(path, entries.size < maxStamps ? `${facts} ${stampOf(join(root, path))}` : facts);
  }
  return { head, entries };
}

function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found ? `${found.mode} ${found.size} ${found.mtimeMs} ${found.ino}` : "gone";
}

async function committedBetween(before: Snapshot, after: Snapshot, timeoutMs: number): Promise<string[]> {
  if (before.head === after.head || before.head === undefined || after.head === undefined) return [];
  const words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", before.head, after.head];
  const names = await runGit(before.root, words, timeoutMs).catch(() => "");
  return names.split("\0").filter(Boolean);
}

const maxBytes = 8 * 1024 * 1024;

/** A git that only reads and starts nothing, whatever the repository or this process's environment says. */
async function runGit(cwd: string, words: readonly string[], timeoutMs: number): Promise<string> {
  const { inertGit } = await import("@outrider/runtime/admin");
  const { file, args } = inertGit(words);
  const { env } = process;
  const { execFile } = process.getBuiltinModule("node:child_process");
  return await new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      {
        cwd,
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: maxBytes,
        env: {
          // A relative entry would find a program of the project's.
          PATH: (env["PATH"] ?? "").split(delimiter).filter(isAbsolute).join(delimiter),
          HOME: env["HOME"],
          XDG_CONFIG_HOME: env["XDG_CONFIG_HOME"],
          LC_ALL: "C",
        },
      },
      (error, stdout) => (error ? reject(error) : resolve(stdout)),
    );
    child.stdin?.end();
  });
}
