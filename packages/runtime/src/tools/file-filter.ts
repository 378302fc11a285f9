import { basename, relative } from "node:path";
import { compileGlob } from "./compile-glob.ts";
import { knownTypes, namesOfType } from "./file-types.ts";
import { ToolFailure } from "./tool.ts";

/**
 * Which files a search looks at. `matches` decides; `names` are patterns for file names that let through at least all of those,
 * to keep ripgrep from reading files whose matches would be thrown away. Undefined where no such patterns can be told.
 */
export type FileFilter = { matches(path: string): boolean; names: readonly string[] | undefined };

/** A glob without a slash is about the file's name; one with a slash is relative to the searched directory or to the workspace root. */
export function createFileFilter(options: {
  glob: string | undefined;
  type: string | undefined;
  root: string;
  workspaceRoot: string;
}): FileFilter {
  const typeNames = options.type === undefined ? undefined : requireType(options.type);
  const isOfType = typeNames && compileGlob(typeNames);
  if (options.glob === undefined) {
    return { matches: (path) => isOfType?.(basename(path)) ?? true, names: typeNames };
  }

  const negated = options.glob.startsWith("!") && !options.glob.startsWith("!(");
  const glob = (negated ? options.glob.slice(1) : options.glob).replace(/^\.?\//, "");
  const matchesGlob = compileGlob(glob, { nonegate: true });
  const fits = (path: string): boolean => {
    if (!glob.includes("/")) return matchesGlob(basename(path));
    return matchesGlob(relative(options.root, path)) || matchesGlob(relative(options.workspaceRoot, path));
  };
  return {
    matches: (path) => (isOfType?.(basename(path)) ?? true) && fits(path) !== negated,
    names: typeNames ?? (negated ? undefined : namesIn(glob)),
  };
}

/** The last part of the pattern if it means the same to ripgrep as to picomatch: stars, plain characters and one list in braces. */
function namesIn(glob: string): string[] | undefined {
  const last = glob.slice(glob.lastIndexOf("/") + 1);
  const isPlain = /^[\w.*-]*(\{[\w.,*-]+\})?[\w.*-]*$/.test(last) && !/\*\*|\.\.|^$/.test(last);
  // A slash inside braces would have cut the pattern in the middle.
  return isPlain && !/\{[^}]*\//.test(glob) ? [last] : undefined;
}

function requireType(type: string): string[] {
  const names = namesOfType(type);
  if (names) return names;
  throw new ToolFailure(`There is no file type "${type}". Use glob instead, or one of: ${knownTypes().join(", ")}.`);
}
