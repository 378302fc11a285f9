import { relative } from "node:path";
import { toReadCheck } from "../../permissions/read-check.ts";
import { readingOf } from "../../permissions/rules.ts";
import { loadRulesAbove } from "../../tools/ignore-rules.ts";
import { walkFiles } from "../../tools/walk.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { SessionPolicy } from "../session-policy.ts";

export type FindingPorts = { readonly workspace: Workspace; readonly policy: SessionPolicy };

/** `isComplete` is false when the folder is too large to be looked through in time. */
export type FoundFiles = { readonly files: readonly string[]; readonly isComplete: boolean };

const walkMs = 3_000;
/** Whoever types asks again with every letter. */
const keptMs = 5_000;
const kept = new WeakMap<Workspace, { readonly until: number; readonly all: Promise<FoundFiles> }>();

/** Files of the working directory whose path has the letters of `query` in their order, best first; only those that the model may read. */
export async function findFiles(
  { workspace, policy }: FindingPorts,
  { query, limit }: { query: string; limit: number },
): Promise<FoundFiles> {
  const { files, isComplete } = await allFiles(workspace);
  const mayRead = toReadCheck(policy.current, { tool: readingOf(workspace.root).tool, approved: [workspace.root] });
  const wanted = query.toLowerCase();
  const ranked = files.flatMap((path) => {
    const shown = relative(workspace.root, path);
    const rank = rankOf(shown.toLowerCase(), wanted);
    return rank === undefined || mayRead?.(path) === false ? [] : [{ shown, rank }];
  });
  ranked.sort(
    (one, other) => one.rank - other.rank || one.shown.length - other.shown.length || (one.shown < other.shown ? -1 : 1),
  );
  return { files: ranked.slice(0, limit).map(({ shown }) => shown), isComplete };
}

async function allFiles(workspace: Workspace): Promise<FoundFiles> {
  const known = kept.get(workspace);
  if (known && known.until > Date.now()) return await known.all;
  const all = walk(workspace);
  kept.set(workspace, { until: Date.now() + keptMs, all });
  return await all;
}

async function walk(workspace: Workspace): Promise<FoundFiles> {
  const { root } = workspace;
  const signal = AbortSignal.timeout(walkMs);
  try {
    const files = await walkFiles({ workspace, root, above: await loadRulesAbove(workspace, root), signal });
    return { files, isComplete: true };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { files: [], isComplete: false };
  }
}

/** The name begins with it, then: is in the name, is in the path, its letters are in the path in this order. */
function rankOf(path: string, wanted: string): number | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  let at = -1;
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 3;
}
