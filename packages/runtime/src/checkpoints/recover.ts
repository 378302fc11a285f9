import { applySteps, removeEmptyFolders, type Step, sweep } from "./apply.ts";
import { readState, sameContent } from "./file-state.ts";
import type { Checkpoint } from "./history.ts";
import { appendRecords } from "./log.ts";
import type { SessionFolder } from "./session-folder.ts";
import { storageFailure } from "./storage-failure.ts";

export type Recovery = {
  readonly checkpointId: string;
  readonly how: "complete" | "undo" | "leave";
  /** Changed by somebody else since: left as they are. */
  readonly leftAlone: readonly string[];
};

/**
 * Ends a restore that was cut off in the middle: completes it, undoes it, or leaves the files as they are and only tidies up.
 * Call with the session's lock. Undefined when there is none.
 */
export async function recoverRestore(
  folder: SessionFolder,
  { checkpoints }: { readonly checkpoints: readonly Checkpoint[] },
  how: Recovery["how"],
): Promise<Recovery | undefined> {
  const open = checkpoints.at(-1);
  if (open?.progress !== "applying" || !open.apply) return undefined;
  const all = stepsOf(open);
  await sweep(all, open.apply.token);
  const { steps, leftAlone } = await remainingSteps(folder, how === "undo" ? all.map(reversed) : all);
  if (how !== "leave") {
    const { blobs, maxFileBytes, sync } = folder;
    const emptied = how === "undo" ? madeBy(open) : open.apply.emptied;
    try {
      await applySteps(steps, { blobs, maxFileBytes, sync, token: open.apply.token, emptied });
    } catch (error) {
      throw storageFailure(`${open.id} was cut off half way and cannot be brought to its end`, error);
    }
  }
  await removeEmptyFolders(madeBy(open));
  const result = how === "complete" ? "applied" : how === "undo" ? "undone" : "left";
  await appendRecords(folder.log, [{ type: "done", n: open.sequence, how: result }], folder.sync);
  return { checkpointId: open.id, how, leftAlone };
}

function stepsOf(checkpoint: Checkpoint): Step[] {
  return checkpoint.links.map(({ path, before, after }) => ({ path, from: before, to: after.at(-1) ?? before }));
}

function reversed({ path, from, to }: Step): Step {
  return { path, from: to, to: from };
}

/** Those that are still to do; a file that is neither as before nor as after is somebody else's now. */
async function remainingSteps(folder: SessionFolder, steps: readonly Step[]): Promise<{ steps: Step[]; leftAlone: string[] }> {
  const remaining: Step[] = [];
  const leftAlone: string[] = [];
  for (const step of steps) {
    const current = await readState(step.path, folder.maxFileBytes);
    if (sameContent(current, step.from)) remaining.push({ ...step, from: current });
    else if (!sameContent(current, step.to)) leftAlone.push(step.path);
  }
  return { steps: remaining, leftAlone };
}

function madeBy(checkpoint: Checkpoint): string[] {
  return [...new Set(checkpoint.links.flatMap(({ made }) => made))].sort((a, b) => b.length - a.length);
}
