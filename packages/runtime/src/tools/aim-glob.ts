import { basename, dirname, isAbsolute, join } from "node:path";
import picomatch from "picomatch";
import type { Workspace } from "../workspace/workspace.ts";
import { compileGlob } from "./compile-glob.ts";

export type GlobInput = { pattern: string; path?: string };

/** A pattern, the directory where walking starts, and what is meant there. */
export type GlobTarget = GlobInput & { root: string; folders: boolean; matches(path: string): boolean };

/** The part of the pattern before its first wildcard is only a path: walking starts there, and that is what permission is asked for. */
export async function aimGlob(input: GlobInput, workspace: Workspace): Promise<GlobTarget> {
  const start = input.path ?? ".";
  const folders = /[^/]\/+$/.test(input.pattern);
  const pattern = folders ? input.pattern.replace(/\/+$/, "") : input.pattern;
  const { base, glob, negated, isGlob } = picomatch.scan(pattern);
  if (negated || base.includes("\\")) {
    return { ...input, folders, root: await workspace.resolve(start), matches: compileGlob(pattern) };
  }
  const fixed = isAbsolute(base) || base.startsWith("~/") ? base : join(start, base);
  if (isGlob) return { ...input, folders, root: await workspace.resolve(fixed), matches: compileGlob(glob) };
  const path = fixed.replace(/\/+$/, "");
  const wanted = basename(path);
  return { ...input, folders, root: await workspace.resolve(dirname(path)), matches: (found) => found === wanted };
}
