import { dirname } from "node:path";
import { forbiddenPattern, forbiddenPlace, isAnyDepth } from "./forbidden-paths.ts";
import type { ListFolder } from "./glob-words.ts";
import { mayReach } from "./path-patterns.ts";
import { foldPath } from "./paths.ts";
import type { ResolvePath } from "./policy.ts";
import { type Rule, type RuleBase, toPathTest } from "./rules.ts";

/** What is known of folders when a program starts. `settled`: nothing before it may have put something there. */
export type Seen = {
  readonly base: RuleBase;
  readonly list: ListFolder | undefined;
  readonly resolve: ResolvePath;
  readonly settled: boolean;
};

const maxEntries = 30_000;

/**
 * May a program that goes through a folder meet a file that a rule speaks of? A name that holds in every folder is looked for there: in
 * doubt are the folders that have it, and those that are too large to tell.
 */
export async function mayMeet(rule: Rule, folder: string, seen: Seen): Promise<boolean> {
  if (mayReach(forbiddenPlace(rule, seen.base), folder)) return true;
  if (!mayBeBelow(rule, folder, seen.base)) return false;
  return seen.settled && seen.list ? isFound(rule, folder, { ...seen, list: seen.list }) : true;
}

/** The same for what git keeps: what a folder held once is not seen in it now. A file was none. */
export async function mayHaveHeld(rule: Rule, path: string, { base, list }: Seen): Promise<boolean> {
  if (mayReach(forbiddenPlace(rule, base), path)) return true;
  return mayBeBelow(rule, path, base) && !(await isFile(path, list));
}

function mayBeBelow(rule: Rule, folder: string, base: RuleBase): boolean {
  const { pattern, anyDepth = pattern !== undefined && isAnyDepth(pattern) } = rule;
  return anyDepth && mayReach(forbiddenPattern(rule, base), folder);
}

async function isFound(rule: Rule, start: string, by: Seen & { readonly list: ListFolder }): Promise<boolean> {
  const forbids = toPathTest(rule, by.base);
  const folders = new Set([start]);
  let left = maxEntries;
  for (const folder of folders) {
    const entries = (await by.list(folder)) ?? [];
    left -= entries.length;
    if (left < 0) return true;
    for (const { name, kind } of entries) {
      const path = `${folder}/${name}`;
      // Some programs follow links, and what has to be told apart first is told by where they lead.
      const real = kind === "symlink" ? await by.resolve(path).catch(() => path) : path;
      if (forbids(foldPath(path)) || forbids(foldPath(real))) return true;
      if (kind === "directory" || kind === "symlink") folders.add(real);
    }
  }
  return false;
}

async function isFile(path: string, list: ListFolder | undefined): Promise<boolean> {
  const entries = await list?.(dirname(path));
  return entries?.some(({ name, kind }) => kind === "file" && name === path.slice(path.lastIndexOf("/") + 1)) ?? false;
}
