import { isAbsolute, relative } from "node:path";
import { type FileState, pathObstacle, sameContent, sameMode } from "./file-state.ts";
import type { Checkpoint, Link, UncoveredCommand } from "./history.ts";

/** `create`, `write` and `link` put something there, `delete` takes it away, `mode` changes nothing but the permission bits. */
export type PlannedChange = {
  readonly path: string;
  /** From the folder the session worked in, where the file is in it. */
  readonly shown: string;
  readonly action: "create" | "write" | "link" | "delete" | "mode";
  readonly from: FileState;
  readonly to: FileState;
};

export type Hindrance = { readonly path: string; readonly shown: string; readonly reason: string };

/** What a restore or rollback would do, found without doing anything. */
export type RestorePlan = {
  /** The checkpoints that are undone, newest first. */
  readonly checkpoints: readonly string[];
  readonly changes: readonly PlannedChange[];
  /** Files somebody else changed in between. Only with force are they overwritten, and even then a copy is kept. */
  readonly conflicts: readonly Hindrance[];
  /** Files nothing can safely be put at. With force they are left as they are, and the rest is done. */
  readonly obstacles: readonly Hindrance[];
  /** Files that were changed without a copy of them being kept. They are left as they are. */
  readonly uncovered: readonly Hindrance[];
  /** Shell commands of the checkpoints that are undone: whatever they changed is not undone. */
  readonly commands: readonly UncoveredCommand[];
  /** Lines of the log that cannot be read: there may have been more changes than are known. */
  readonly damaged: number;
  /** Folders to remove when they are empty afterwards, deepest first. */
  readonly emptied: readonly string[];
};

export type Planning = {
  /** The checkpoints to undo, oldest first. */
  readonly undone: readonly Checkpoint[];
  readonly damaged: number;
  readonly look: (path: string) => Promise<FileState>;
  /** A copy of this content is kept. */
  readonly has: (state: FileState & { kind: "file" }) => boolean;
};

export async function planRestore(planning: Planning): Promise<RestorePlan> {
  const { undone, damaged } = planning;
  const root = undone.findLast((checkpoint) => checkpoint.root !== undefined)?.root;
  const changes: PlannedChange[] = [];
  const conflicts: Hindrance[] = [];
  const obstacles: Hindrance[] = [];
  const uncovered: Hindrance[] = [];
  const emptied = new Set<string>();
  for (const [path, links] of linksByPath(undone)) {
    const shown = showPath(path, root);
    const [first] = links;
    if (first.before.kind === "uncovered" || first.before.kind === "directory") {
      uncovered.push({ path, shown, reason: uncoveredReason(first.before) });
      continue;
    }
    const current = await planning.look(path);
    const to = targetOf(links, current);
    if (sameContent(current, to) && sameMode(current, to)) continue;
    const obstacle = obstacleAt(path, { current, to, has: planning.has });
    if (obstacle !== undefined) {
      obstacles.push({ path, shown, reason: obstacle });
      continue;
    }
    const conflict = conflictOf(links, current);
    if (conflict !== undefined) conflicts.push({ path, shown, reason: conflict });
    changes.push({ path, shown, action: actionOf(current, to), from: current, to });
    if (to.kind === "absent") for (const folder of first.made) emptied.add(folder);
  }
  return {
    checkpoints: undone.map(({ id }) => id).reverse(),
    changes,
    conflicts,
    obstacles,
    uncovered,
    commands: undone.flatMap(({ commands }) => commands),
    damaged,
    emptied: [...emptied].sort((a, b) => b.length - a.length),
  };
}

/** Nothing of it may be done unless the user insists. */
export function isHindered({ conflicts, obstacles, damaged }: RestorePlan): boolean {
  return conflicts.length > 0 || obstacles.length > 0 || damaged > 0;
}

export function showPath(path: string, root: string | undefined): string {
  if (root === undefined) return path;
  const inside = relative(root, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

export function uncoveredReason(state: FileState): string {
  if (state.kind === "directory") return "it was a folder";
  if (state.kind !== "uncovered") return "";
  switch (state.reason) {
    case "too-large":
      return state.size === undefined ? "it was too large to keep" : `it was too large to keep (${state.size} bytes)`;
    case "special":
      return "it was a device, pipe or socket";
    case "unreadable":
      return "it could not be read";
    case "git":
      return "it is in git's own folder, which checkpoints never touch";
  }
}

type Links = readonly [Link, ...Link[]];

function linksByPath(checkpoints: readonly Checkpoint[]): Map<string, Links> {
  const found = new Map<string, Links>();
  for (const link of checkpoints.flatMap(({ links }) => links)) {
    const earlier = found.get(link.path);
    found.set(link.path, earlier ? [...earlier, link] : [link]);
  }
  return found;
}

/** What was there before the first of the changes; permission bits that somebody else changed since stay as they are now. */
function targetOf(links: Links, current: FileState): FileState {
  const { before } = links[0];
  if (before.kind !== "file" || current.kind !== "file" || current.mode === undefined) return before;
  const kept = links.every(({ after }, index) => {
    const next = links[index + 1]?.before ?? current;
    return after.some((state) => sameMode(state, next));
  });
  return kept ? before : { ...before, mode: current.mode };
}

function conflictOf(links: Links, current: FileState): string | undefined {
  for (const [index, link] of links.entries()) {
    const next = links[index + 1];
    const found = next?.before ?? current;
    if (link.after.some((state) => sameContent(state, found))) continue;
    if (next) {
      return link.checkpointId === next.checkpointId
        ? `it was changed by somebody else during ${link.checkpointId}`
        : `it was changed by somebody else between ${link.checkpointId} and ${next.checkpointId}`;
    }
    return current.kind === "absent"
      ? `it was removed or renamed since ${link.checkpointId}`
      : `it was changed since ${link.checkpointId}${current.kind === "link" ? ": it is a symbolic link now" : ""}`;
  }
  return undefined;
}

type Change = { current: FileState; to: FileState; has: Planning["has"] };

function obstacleAt(path: string, { current, to, has }: Change): string | undefined {
  const onTheWay = pathObstacle(path);
  if (onTheWay !== undefined) return onTheWay;
  if (current.kind === "directory") return "it is a folder now";
  if (current.kind === "uncovered") return `${obstacleWords[current.reason]}, so no copy of it could be kept`;
  if (to.kind === "file" && !(current.kind === "file" && sameContent(current, to)) && !has(to))
    return "the kept copy is gone or damaged";
  return undefined;
}

const obstacleWords = {
  "too-large": "it is very large now",
  special: "it is a device, pipe or socket now",
  unreadable: "it cannot be read now",
  git: "it is in git's own folder",
} as const;

function actionOf(current: FileState, to: FileState): PlannedChange["action"] {
  if (to.kind === "absent") return "delete";
  if (to.kind === "link") return "link";
  if (current.kind === "absent") return "create";
  return sameContent(current, to) ? "mode" : "write";
}
