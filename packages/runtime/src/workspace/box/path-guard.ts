import { mkdirSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { decidingNames, isGitDirectory, plainConfiguration, submoduleDirectories } from "./git-directory.ts";
import { entryAt, linkTarget, namesIn, smallText } from "./host-files.ts";
import type { Watched } from "./protected-paths.ts";

const lookEveryMs = 100;

export type PathGuard = {
  /** Aborted when something protected was touched: the command is to be ended. */
  readonly signal: AbortSignal;
  /** To be called when nothing of the box lives any more. Undoes what was done and answers what that was. */
  restore(): Promise<string[]>;
};

/** Looks after protected paths that no mount can hold. What a command made of them is moved to `setAside`, never deleted. */
export function guardPaths(watched: readonly Watched[], setAside: string): PathGuard {
  const touched = new AbortController();
  const bare = bareRoots(watched).filter((folder) => !isGitDirectory(folder));
  const look = setInterval(() => {
    if (watched.some((item) => wrongPaths(item).length > 0)) touched.abort();
  }, lookEveryMs);
  look.unref();
  return {
    signal: touched.signal,
    async restore() {
      clearInterval(look);
      const undone: string[] = [];
      const putAway = async (path: string): Promise<void> => {
        await moveAway(path, setAside);
        undone.push(path);
      };
      for (const item of watched) {
        const wrong = wrongPaths(item).filter((path) => entryAt(path) !== "missing");
        for (const path of wrong) await putAway(path);
        if (item.type === "link" && entryAt(item.path) === "missing") {
          symlinkSync(item.target, item.path);
          if (!undone.includes(item.path)) undone.push(item.path);
        }
        if (item.type === "names" && wrong.length > 0) removeIfEmpty(item.path);
        if (item.type === "repository") await disarm(item.path, putAway);
      }
      for (const folder of bare) if (isGitDirectory(folder)) await putAway(join(folder, "HEAD"));
      return [...new Set(undone)];
    },
  };
}

/** What is there and should not be, or is not what it was. */
function wrongPaths(item: Watched): string[] {
  switch (item.type) {
    case "missing":
      return entryAt(item.path) === "missing" ? [] : [item.path];
    case "link":
      return linkTarget(item.path) === item.target ? [] : [item.path];
    case "names": {
      const entry = entryAt(item.path);
      if (entry === "missing") return [];
      if (entry !== "directory") return [item.path];
      const names = namesIn(item.path).filter((name) => item.names.test(name) && !item.known.has(name));
      return names.map((name) => join(item.path, name));
    }
    case "repository":
      return ["missing", "directory"].includes(entryAt(item.path)) ? [] : [item.path];
  }
}

/** A directory with HEAD, objects and refs is a repository by itself, with a configuration of its own, when it holds no `.git`. */
function bareRoots(watched: readonly Watched[]): string[] {
  return watched.filter((item) => item.type === "repository").map((item) => dirname(item.path));
}

/** Takes from a new repository everything that would make git run a program. */
async function disarm(path: string, putAway: (path: string) => Promise<void>): Promise<void> {
  if (entryAt(path) !== "directory") return;
  for (const directory of [path, ...submoduleDirectories(path)]) {
    for (const name of decidingNames.filter((name) => name !== "config" && name !== "hooks")) {
      if (entryAt(join(directory, name)) !== "missing") await putAway(join(directory, name));
    }
    const hooks = join(directory, "hooks");
    if (entryAt(hooks) === "link" || entryAt(hooks) === "file") await putAway(hooks);
    for (const name of namesIn(hooks)) if (!name.endsWith(".sample")) await putAway(join(hooks, name));
    await disarmConfiguration(join(directory, "config"), putAway);
  }
}

async function disarmConfiguration(path: string, putAway: (path: string) => Promise<void>): Promise<void> {
  const entry = entryAt(path);
  if (entry === "missing") return;
  const text = entry === "file" ? smallText(path) : undefined;
  const plain = text === undefined ? undefined : plainConfiguration(text);
  if (plain !== undefined && plain === text) return;
  await putAway(path);
  if (plain !== undefined) writeFileSync(path, plain, { flag: "wx" });
}

/** The folder around what was put away, when nothing else is in it. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody keeps something in it, or it is not there.
  }
}

async function moveAway(path: string, setAside: string): Promise<void> {
  mkdirSync(setAside, { recursive: true, mode: 0o700 });
  const taken = new Set(namesIn(setAside));
  let number = 1;
  while (taken.has(`${number}-${basename(path)}`)) number++;
  const target = join(setAside, `${number}-${basename(path)}`);
  try {
    renameSync(path, target);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    await cp(path, target, { recursive: true, verbatimSymlinks: true });
    await rm(path, { recursive: true, force: true });
  }
}
