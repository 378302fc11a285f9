import { dirname } from "node:path";
import type { Workspace } from "../workspace/workspace.ts";
import type { RulesAbove } from "./ignore-rules.ts";
import { walkFiles } from "./walk.ts";

/**
 * Is there an ignore file that is no regular file? ripgrep waits for ever at a pipe called .gitignore, and reads a device of that name
 * without end; the built-in search passes it over.
 */
export async function hasOddRules(options: {
  workspace: Workspace;
  root: string;
  above: RulesAbove;
  signal: AbortSignal;
}): Promise<boolean> {
  const { workspace, root } = options;
  const isOdd = async (path: string): Promise<boolean> => (await workspace.stat(path).catch(() => undefined))?.kind === "other";
  for (let at = root, below = ""; at !== below; below = at, at = dirname(at)) {
    const prefix = at === "/" ? "" : at;
    if ((await isOdd(`${prefix}/.gitignore`)) || (await isOdd(`${prefix}/.git/info/exclude`))) return true;
  }
  const found = new AbortController();
  const onDirectory = async (directory: string, names: ReadonlySet<string>): Promise<void> => {
    const files = [...(names.has(".gitignore") ? [".gitignore"] : []), ...(names.has(".git") ? [".git/info/exclude"] : [])];
    for (const file of files) if (await isOdd(`${directory}/${file}`)) found.abort();
  };
  const signal = AbortSignal.any([options.signal, found.signal]);
  await walkFiles({ ...options, signal, onDirectory }).catch(() => {});
  return found.signal.aborted;
}
