import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { StatusLineRepository } from "../commands/command.ts";
import type { GitFacts } from "../context/environment.ts";
import { defined } from "../util/defined.ts";
import type { Surroundings } from "./surroundings.ts";

/** Beyond some 40,000 files git takes longer than the list is worth. */
const largestIndex = 4 * 1024 * 1024;
/** Whoever asks for it waits. */
const statusPatienceMs = 2_000;

/**
 * The repository of a folder: the branch by a look at a file, what is changed by a git that obeys no repository. Never takes long: git is
 * started at once and ended when it is not done in time.
 */
export async function lookAtGit({ cwd, top }: Repository, env: Surroundings["env"], patienceMs: number): Promise<GitFacts> {
  const path = join(top, ".git");
  const folder = statSync(path).isDirectory() ? path : linked(top, path);
  if (folder === undefined) return { type: "none" };
  const isLarge = (statSync(join(folder, "index"), { throwIfNoEntry: false })?.size ?? 0) > largestIndex;
  const changes = isLarge ? undefined : await changesIn(cwd, env, patienceMs);
  return { type: "repository", head: headOf(folder), ...defined({ commit: commitOf(folder) }), changes };
}

/** For a status line: where it is, its branch, and how many files are changed. Undefined where there is none. */
export async function repositoryOf(cwd: string, env: Surroundings["env"]): Promise<StatusLineRepository | undefined> {
  for (let root = resolve(cwd); ; root = dirname(root)) {
    if (existsSync(join(root, ".git"))) {
      const changed = (await changesIn(cwd, env, statusPatienceMs))?.length;
      return { root, ...defined({ branch: branchOf(cwd), changed }) };
    }
    if (root === dirname(root)) return undefined;
  }
}

/** `top` holds the `.git`. */
export type Repository = { readonly cwd: string; readonly top: string };

/** The branch of a folder's repository; undefined where there is none. */
export function branchOf(cwd: string): string | undefined {
  const folder = gitFolder(cwd);
  return folder === undefined ? undefined : /^branch (.+)$/.exec(headOf(folder) ?? "")?.[1];
}

/** The nearest `.git`; one that is a file leads to the folder it names. */
function gitFolder(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, ".git");
    if (existsSync(path)) return statSync(path).isDirectory() ? path : linked(folder, path);
    if (folder === dirname(folder)) return undefined;
  }
}

/** A `.git` that is a file leads to the folder it names. */
function linked(folder: string, path: string): string | undefined {
  const target = /^gitdir: (.+)$/m.exec(readFirst(path))?.[1];
  return target === undefined ? undefined : resolve(folder, target.trim());
}

function headOf(folder: string): string | undefined {
  const text = readFirst(join(folder, "HEAD"));
  const branch = /^ref: refs\/heads\/([^\s]{1,200})$/m.exec(text)?.[1];
  if (branch !== undefined) return `branch ${branch}`;
  const commit = /^[0-9a-f]{40,64}$/m.exec(text)?.[0];
  return commit === undefined ? undefined : `no branch, at commit ${commit.slice(0, 12)}`;
}

/** A worktree keeps its own HEAD, and its branches where the repository does. */
function commitOf(folder: string): string | undefined {
  const head = readFirst(join(folder, "HEAD")).trim();
  const reference = /^ref: (refs\/[\w./@+-]{1,250})$/.exec(head)?.[1];
  if (reference === undefined) return toCommit(head);
  if (reference.split("/").includes("..")) return undefined;
  const shared = resolve(folder, readFirst(join(folder, "commondir")).trim() || ".");
  const packed = readFirst(join(shared, "packed-refs"), largestIndex).split("\n");
  return toCommit(readFirst(join(shared, reference))) ?? toCommit(packed.find((line) => line.endsWith(` ${reference}`)) ?? "");
}

function toCommit(text: string): string | undefined {
  return /^[0-9a-f]{40,64}(?=\s|$)/.exec(text)?.[0];
}

function readFirst(path: string, most = 4096): string {
  try {
    return statSync(path).isFile() && statSync(path).size < most ? readFileSync(path, "utf8") : "";
  } catch {
    return ""; // no repository that can be told
  }
}

async function changesIn(cwd: string, env: Surroundings["env"], timeout: number): Promise<readonly string[] | undefined> {
  const { inertGit } = await import("../workspace/inert-git.ts");
  const { file, args } = inertGit(["status", "--porcelain", "--untracked-files=normal", "--no-renames"]);
  const { execFile } = process.getBuiltinModule("node:child_process");
  const { PATH, HOME, XDG_CONFIG_HOME, LANG } = env;
  const given = Object.fromEntries(
    Object.entries({ PATH, HOME, XDG_CONFIG_HOME, LANG }).filter(([, value]) => value !== undefined),
  );
  return await new Promise((settle) => {
    const options = { cwd, env: given as NodeJS.ProcessEnv, timeout, maxBuffer: 1024 * 1024, killSignal: "SIGKILL" } as const;
    execFile(file, [...args], options, (error, stdout) => settle(error ? undefined : stdout.split("\n").filter(Boolean)));
  });
}
