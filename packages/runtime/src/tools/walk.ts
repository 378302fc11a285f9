import type { Workspace } from "../workspace/workspace.ts";
import type { IgnoreRules, RulesAbove } from "./ignore-rules.ts";
import { addRules, isIgnored } from "./ignore-rules.ts";

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
}): Promise<string[]> {
  const { workspace, root, above, signal } = options;
  const files: string[] = [];
  const pending: Place[] = [{ directory: root, rules: above.rules }];
  while (pending.length > 0) {
    signal.throwIfAborted();
    const batch = pending.splice(-width);
    const found = await Promise.all(batch.map((place) => readPlace(workspace, place, above.inGit)));
    for (const place of found) {
      for (const file of place.files) files.push(file);
      for (const inner of place.directories) pending.push(inner);
    }
  }
  return files;
}

type Place = { directory: string; rules: IgnoreRules };

async function readPlace(
  workspace: Workspace,
  { directory, rules: outer }: Place,
  inGit: boolean,
): Promise<{ files: string[]; directories: Place[] }> {
  // A directory that may not be read is passed over, as it is by ripgrep.
  const entries = await workspace.readDirectory(directory).catch(() => []);
  const has = (name: string): boolean => entries.some((entry) => entry.name === name);
  const rules = await addRules(workspace, outer, { directory, startsAnew: inGit && has(".git"), hasRules: has(".gitignore") });
  const prefix = directory.endsWith("/") ? directory : `${directory}/`;
  const files: string[] = [];
  const directories: Place[] = [];
  for (const entry of entries) {
    if (entry.name === ".git") continue;
    const path = prefix + entry.name;
    if (entry.kind === "file" && !isIgnored(rules, path, false)) files.push(path);
    if (entry.kind === "directory" && !isIgnored(rules, path, true)) directories.push({ directory: path, rules });
  }
  return { files, directories };
}
