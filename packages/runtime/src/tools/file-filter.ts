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

  const globs = splitGlobs(options.glob).map((text) => compileOne(text, options));
  const wanted = globs.filter(({ negated }) => !negated);
  const unwanted = globs.filter(({ negated }) => negated);
  const fits = (path: string): boolean =>
    (wanted.length === 0 || wanted.some((glob) => glob.fits(path))) && !unwanted.some((glob) => glob.fits(path));
  const names = wanted.map(({ text }) => namesIn(text));
  return {
    matches: (path) => (isOfType?.(basename(path)) ?? true) && fits(path),
    names: typeNames ?? (names.length === 0 || names.includes(undefined) ? undefined : names.flatMap((own) => own ?? [])),
  };
}

type OneGlob = { readonly text: string; readonly negated: boolean; fits(path: string): boolean };

function compileOne(given: string, { root, workspaceRoot }: { root: string; workspaceRoot: string }): OneGlob {
  const negated = given.startsWith("!") && !given.startsWith("!(");
  const text = (negated ? given.slice(1) : given).replace(/^\.?\//, "");
  const matches = compileGlob(text, { nonegate: true });
  const fits = (path: string): boolean => {
    if (!text.includes("/")) return matches(basename(path));
    return matches(relative(root, path)) || matches(relative(workspaceRoot, path));
  };
  return { text, negated, fits };
}

/** `*.ts,*.tsx` and `*.ts *.tsx` are two globs; a comma in braces and a blank in a name separate nothing. */
function splitGlobs(glob: string): string[] {
  const parts = glob.split(/[,\s]+(?![^{}()[\]]*[})\]])/).filter((part) => part !== "");
  return parts.length > 1 && parts.every((part) => /[*?]|^!?[^\s]*\.\w+$/.test(part)) ? parts : [glob];
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
