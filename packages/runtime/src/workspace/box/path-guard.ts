import { rmdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { isGitDirectory } from "./git-directory.ts";
import { entryAt, linkTarget, namesIn } from "./host-files.ts";
import type { Watched } from "./protected-paths.ts";
import { putAway } from "./put-away.ts";

const lookEveryMs = 100;

export type PathGuard = {
  /** Aborted when something protected was touched: the command is to be ended. */
  readonly signal: AbortSignal;
  /**
   * To be called when nothing of the box lives any more. Undoes what was done and answers what that was; `still` keeps others from changing
   * anything meanwhile.
   */
  restore(still: (work: () => Promise<void>) => Promise<void>): Promise<string[]>;
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
    async restore(still) {
      clearInterval(look);
      const undone: string[] = [];
      const isNewlyBare = (): boolean => bare.some(isGitDirectory);
      if (!watched.some((item) => wrongPaths(item).length > 0) && !isNewlyBare()) return undone;
      const takeAway = async (path: string): Promise<void> => {
        await putAway(path, setAside);
        undone.push(path);
      };
      await still(async () => {
        for (const item of watched) {
          const wrong = wrongPaths(item).filter((path) => entryAt(path) !== "missing");
          for (const path of wrong) await takeAway(path);
          if (item.type === "link" && entryAt(item.path) === "missing") {
            symlinkSync(item.target, item.path);
            if (!undone.includes(item.path)) undone.push(item.path);
          }
          if (item.type === "names" && wrong.length > 0) removeIfEmpty(item.path);
        }
        for (const folder of bare) if (isGitDirectory(folder)) await takeAway(join(folder, "HEAD"));
      });
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

/** The folder around what was put away, when nothing else is in it. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody keeps something in it, or it is not there.
  }
}
