import { dirname, relative } from "node:path";
import type { Ignore } from "ignore";
import type { Workspace } from "../workspace/workspace.ts";

/** The rules of one file, and the directory they are relative to. */
type Layer = { directory: string; matcher: Ignore; patterns: string; isExclude: boolean };

/** The .gitignore files in force in one directory, the outermost first. */
export type IgnoreRules = readonly Layer[];

/**
 * What reaches a directory from above. `inGit`: it lies in a repository, where a nested repository starts anew and exclude files
 * count; elsewhere only .gitignore files do. Exactly what ripgrep does with and without `--no-require-git`.
 */
export type RulesAbove = { rules: IgnoreRules; inGit: boolean };

/**
 * Rules count from the top of the repository on, or from the workspace root where there is no repository.
 * None do when they ignore the directory itself: a call that names an ignored directory wants to see what is in it.
 */
export async function loadRulesAbove(workspace: Workspace, directory: string): Promise<RulesAbove> {
  if (await exists(workspace, `${directory}/.git`)) return { rules: [], inGit: true };
  const above = ancestorsOf(directory);
  const isRepository = await Promise.all(above.map((ancestor) => exists(workspace, `${ancestor}/.git`)));
  const top = isRepository.indexOf(true);
  const inGit = top !== -1;
  const reach = inGit ? top + 1 : above.indexOf(workspace.root) + 1;

  let rules: IgnoreRules = [];
  for (const [index, ancestor] of [...above.slice(0, reach).entries()].reverse()) {
    if (isIgnored(rules, ancestor, true)) return { rules: [], inGit: false };
    rules = await addRules(workspace, rules, { directory: ancestor, startsAnew: index === top, hasRules: true });
  }
  return isIgnored(rules, directory, true) ? { rules: [], inGit: false } : { rules, inGit };
}

/** The rules inside a directory, given those in force around it. The top of a repository starts anew. */
export async function addRules(
  workspace: Workspace,
  outer: IgnoreRules,
  found: { directory: string; startsAnew: boolean; hasRules: boolean },
): Promise<IgnoreRules> {
  const kept = found.startsAnew ? [] : await Promise.all(outer.map((layer) => overrule(layer, found.directory)));
  const exclude = found.startsAnew ? await loadLayer(workspace, `${found.directory}/.git/info/exclude`, found.directory) : [];
  const own = found.hasRules ? await loadLayer(workspace, `${found.directory}/.gitignore`, found.directory) : [];
  return [...kept, ...exclude, ...own];
}

/** The deepest .gitignore with an opinion decides; a repository's exclude file comes last. */
export function isIgnored(rules: IgnoreRules, path: string, isDirectory: boolean): boolean {
  for (const exclude of [false, true]) {
    for (const layer of rules.toReversed()) {
      if (layer.isExclude !== exclude) continue;
      const verdict = judge(layer, path, isDirectory);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
  }
  return false;
}

function judge(layer: Layer, path: string, isDirectory: boolean): { ignored: boolean; unignored: boolean } {
  return layer.matcher.test(`${relative(layer.directory, path)}${isDirectory ? "/" : ""}`);
}

/**
 * A layer that ignores a directory we are in was overruled by another one. To the matcher everything in an ignored directory
 * is ignored, so it is told that this one is not; what it says about single files below still counts.
 */
async function overrule(layer: Layer, directory: string): Promise<Layer> {
  if (!judge(layer, directory, true).ignored) return layer;
  const name = relative(layer.directory, directory).replace(/[\\*?[\]!# ]/g, "\\$&");
  return createLayer({ ...layer, patterns: `${layer.patterns}\n!/${name}/` });
}

async function loadLayer(workspace: Workspace, file: string, directory: string): Promise<Layer[]> {
  const bytes = await workspace.readFile(file, { maxBytes: 1024 * 1024 }).catch(() => undefined);
  if (!bytes) return [];
  return [await createLayer({ directory, patterns: new TextDecoder().decode(bytes), isExclude: file.endsWith("/info/exclude") })];
}

async function createLayer(facts: Omit<Layer, "matcher">): Promise<Layer> {
  const { default: ignore } = await import("ignore");
  return { ...facts, matcher: ignore({ ignorecase: false }).add(facts.patterns) };
}

async function exists(workspace: Workspace, path: string): Promise<boolean> {
  return (await workspace.stat(path).catch(() => undefined)) !== undefined;
}

/** From the parent up to the root of the file system. */
function ancestorsOf(directory: string): string[] {
  const ancestors: string[] = [];
  for (let at = dirname(directory), below = directory; at !== below; below = at, at = dirname(at)) ancestors.push(at);
  return ancestors;
}
