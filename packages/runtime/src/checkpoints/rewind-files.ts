import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { toRuntimeError } from "../protocol/errors.ts";
import type { FileState } from "./file-state.ts";
import { countChangedLines } from "./line-counts.ts";
import { isHindered, type PlannedChange, type RestorePlan } from "./plan.ts";
import { loadHistory, planFor, type RestoreResult } from "./restore.ts";
import type { SessionFolder } from "./session-folder.ts";

/** The answer to `rewind_files`, as clients of the Agent SDK know it. */
export type RewindFilesResult = {
  readonly canRewind: boolean;
  readonly error?: string;
  readonly filesChanged?: readonly string[];
  readonly insertions?: number;
  readonly deletions?: number;
};

export type Rewind = {
  readonly folder: SessionFolder;
  readonly id: string;
  /** Absent for a look without doing it. */
  readonly run: (() => Promise<RestoreResult>) | undefined;
  readonly onRestored?: ((result: RestoreResult) => void) | undefined;
};

export async function rewindFiles({ folder, id, run, onRestored }: Rewind): Promise<RewindFilesResult> {
  try {
    const plan = await planFor(folder, await loadHistory(folder), { kind: "rollback", target: id });
    if (isHindered(plan)) return { canRewind: false, error: hindranceText(plan) };
    const counts = await countLines(folder, plan.changes);
    const result = await run?.();
    if (result?.type === "refused") return { canRewind: false, error: hindranceText(result.plan) };
    if (result) onRestored?.(result);
    return { canRewind: true, filesChanged: plan.changes.map(({ path }) => path), ...counts };
  } catch (error) {
    return { canRewind: false, error: toRuntimeError(error).message };
  }
}

/** Why a plan is refused, in one line. */
function hindranceText({ conflicts, obstacles, damaged }: RestorePlan): string {
  const files = [...conflicts, ...obstacles].map(({ shown, reason }) => `${shown}: ${reason}`);
  const lines = damaged > 0 ? [`${damaged} ${damaged === 1 ? "line" : "lines"} of the checkpoint log cannot be read`] : [];
  return `Nothing was changed. ${[...files, ...lines].join("; ")}`;
}

async function countLines(folder: SessionFolder, changes: readonly PlannedChange[]) {
  let insertions = 0;
  let deletions = 0;
  for (const { path, from, to } of changes) {
    const before = await textOf(from, path);
    const after = await textOf(to, join(folder.path, "blobs", to.kind === "file" ? to.hash : ""));
    if (before === undefined || after === undefined) continue;
    const counts = countChangedLines(before, after);
    insertions += counts.insertions;
    deletions += counts.deletions;
  }
  return { insertions, deletions };
}

const maxCountedBytes = 4 * 1024 * 1024;

/** Undefined for what has no lines worth counting: binary or very large files. */
async function textOf(state: FileState, path: string): Promise<string | undefined> {
  if (state.kind !== "file") return "";
  if (state.size > maxCountedBytes) return undefined;
  const text = await readFile(path, "utf8");
  return text.includes("\0") ? undefined : text;
}
