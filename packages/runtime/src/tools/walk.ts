import type { DirectoryEntry, Workspace } from "../workspace/workspace.ts";
import type { IgnoreRules, RulesAbove } from "./ignore-rules.ts";
import { isKernelTree } from "./bounded-search.ts";
import { addRules, isIgnored } from "./ignore-rules.ts";
import { ToolFailure } from "./tool.ts";

/** Directories read at the same time. */
const width = 16;

/**
 * Every file below a directory that git would not ignore, in no particular order, as absolute paths.
 * Symbolic links are not followed and not listed, so that a loop of them ends nowhere.
 */
export async function walkFiles(options: {
  workspace: Workspace;
  root: string;
  above: RulesAbove;
  signal: AbortSignal;
  /** Told of each directory on the way, with the names in it. */
  onDirectory?(directory: string, names: ReadonlySet<string>): Promise<void>;
}): Promise<string[]> {
  const { root, above, signal } = options;
  const files: string[] = [];
  const pending: Place[] = [{ directory: root, rules: above.rules }];
  while (pending.length > 0) {
    signal.throwIfAborted();
    const batch = pending.splice(-width);
    const found = await Promise.all(batch.map((place) => readPlace(options, place)));
    for (const place of found) {
      for (const file of place.files) files.push(file);
      for (const inner of place.directories) pending.push(inner);
    }
  }
  return files;
}

type Place = { directory: string; rules: IgnoreRules };

async function readPlace(
  { workspace, above, onDirectory }: Parameters<typeof walkFiles>[0],
  { directory, rules: outer }: Place,
): Promise<{ files: string[]; directories: Place[] }> {
  const entries = await listReadable(workspace, directory);
  const names = new Set(entries.map((entry) => entry.name));
  await onDirectory?.(directory, names);
  const startsAnew = above.inGit && names.has(".git");
  const rules = await addRules(workspace, outer, { directory, startsAnew, hasRules: names.has(".gitignore") });
  const prefix = directory.endsWith("/") ? directory : `${directory}/`;
  const files: string[] = [];
  const directories: Place[] = [];
  for (const entry of entries) {
    if (entry.name === ".git") continue;
    const path = prefix + entry.name;
    if (entry.kind === "file" && !isIgnored(rules, path, false)) files.push(path);
    if (entry.kind === "directory" && !isKernelTree(path) && !isIgnored(rules, path, true)) {
      directories.push({ directory: path, rules });
    }
  }
  return { files, directories };
}

/** A directory that may not be read is passed over, as it is by ripgrep. */
async function listReadable(workspace: Workspace, directory: string): Promise<DirectoryEntry[]> {
  return await workspace.readDirectory(directory).catch((error: unknown) => passOver(error, []));
}

/** What cannot be read is passed over; but with no descriptor left nothing could be read, and "nothing found" would be a lie. */
export function passOver<Value>(error: unknown, instead: Value): Value {
  if (isOutOfFiles(error)) throw new ToolFailure("The search failed: too many files are open.");
  return instead;
}

/** Told by a failure of the workspace, whose cause is what the system said. */
function isOutOfFiles(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && (cause.code === "EMFILE" || cause.code === "ENFILE");
}
