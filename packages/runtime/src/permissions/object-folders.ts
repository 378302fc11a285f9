import type { Target } from "./command-paths.ts";
import { mayHold } from "./path-patterns.ts";
import { foldPath } from "./paths.ts";
import { objects } from "./stored-contents.ts";

/** Does going through this folder lead to objects? Only from within `.git`: whoever comes from above meets the files themselves. */
export function leadsToObjects({ path, pattern }: NonNullable<Target>, wildGlobs: boolean): boolean {
  const behind = /\/\.git(?:\/(.*))?$/s.exec(foldPath(path.replace(/\/\*\*$/, "")));
  if (behind && /^(?:(?:objects|lfs|annex|modules|worktrees)(?:\/|$)|$)/.test(behind[1] ?? "")) return true;
  return pattern && mayHold(path, objects.slice(1), wildGlobs) === "same";
}
