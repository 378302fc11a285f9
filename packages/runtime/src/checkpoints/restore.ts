import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { ApplyUndone, applySteps, type Step } from "./apply.ts";
import { missingFolders, readState, sameContent, sameMode } from "./file-state.ts";
import { type Checkpoint, checkpointId, toCheckpoints } from "./history.ts";
import { appendRecords, readRecords } from "./log.ts";
import { isHindered, planRestore, type PlannedChange, type RestorePlan } from "./plan.ts";
import { type Recovery, recoverRestore } from "./recover.ts";
import type { CheckpointRecord } from "./record.ts";
import type { SessionFolder } from "./session-folder.ts";
import { storageFailure } from "./storage-failure.ts";
import { defined } from "../util/defined.ts";
import { messageOf } from "../util/message-of.ts";

/** `restore` undoes what came after the checkpoint; `rollback` undoes the checkpoint as well. */
export type RestoreKind = "restore" | "rollback";

export type RestoreRequest = {
  readonly kind: RestoreKind;
  readonly target: string;
  /** Overwrite what somebody else changed in between, and leave alone what cannot be restored. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  /** Throws where the files of these real paths may not be changed. */
  readonly mayChange?: ((paths: readonly string[]) => Promise<void>) | undefined;
  readonly now: () => number;
};

export type RestoreResult = {
  readonly plan: RestorePlan;
  /** An earlier restore that was cut off and has been brought to its end first. */
  readonly recovered?: Recovery;
} & (
  | { readonly type: "restored"; readonly checkpointId: string }
  /** The files are as they should be already. */
  | { readonly type: "unchanged" }
  | { readonly type: "planned" }
  /** Nothing was done: see the plan's conflicts, obstacles and damaged lines. */
  | { readonly type: "refused" }
);

export type LoadedHistory = { readonly checkpoints: readonly Checkpoint[]; readonly damaged: number };

export async function loadHistory(folder: SessionFolder): Promise<LoadedHistory> {
  const { records, damaged } = await readRecords(folder.log);
  return { checkpoints: toCheckpoints(records), damaged };
}

/** By id, by number, or by the turn or user message it belongs to. */
export function findCheckpoint(checkpoints: readonly Checkpoint[], wanted: string): Checkpoint {
  const found = checkpoints.findLast(
    ({ id, sequence, turnId, userMessageId }) => [id, String(sequence), turnId, userMessageId].includes(wanted), //
  );
  if (found) return found;
  const ids = checkpoints.map(({ id }) => id);
  const guess = nearest(wanted, ids);
  const known = ids.length === 0 ? "The session has none" : `There are ${ids.length}, from ${ids[0]} to ${ids.at(-1)}`;
  throw new RuntimeError("not-found", `There is no checkpoint ${JSON.stringify(wanted)}. ${known}`, {
    ...(guess !== undefined && { hint: `Did you mean ${guess}?` }),
  });
}

export async function planFor(
  folder: SessionFolder,
  history: LoadedHistory,
  request: Pick<RestoreRequest, "kind" | "target">,
): Promise<RestorePlan> {
  const { sequence } = findCheckpoint(history.checkpoints, request.target);
  const first = request.kind === "restore" ? sequence + 1 : sequence;
  return await planRestore({
    undone: history.checkpoints.filter((checkpoint) => checkpoint.sequence >= first),
    damaged: history.damaged,
    look: async (path) => {
      try {
        return await readState(path, folder.maxFileBytes);
      } catch (error) {
        throw storageFailure(`${path} cannot be looked at, so nothing was changed`, error);
      }
    },
    has: (state) => folder.blobs.has(state),
  });
}

/** Call with the session's lock. What is replaced is kept first, as a checkpoint of its own: a restore can be rolled back. */
export async function runRestore(folder: SessionFolder, request: RestoreRequest): Promise<RestoreResult> {
  const recovered = request.dryRun ? undefined : await recoverRestore(folder, await loadHistory(folder), "complete");
  const history = await loadHistory(folder);
  const plan = await planFor(folder, history, request);
  const found = { plan, ...defined({ recovered }) };
  if (isHindered(plan) && !request.force) return { type: "refused", ...found };
  if (plan.changes.length === 0) return { type: "unchanged", ...found };
  if (request.dryRun) return { type: "planned", ...found };
  await request.mayChange?.(plan.changes.map(({ path }) => path));

  const target = findCheckpoint(history.checkpoints, request.target);
  const sequence = (history.checkpoints.at(-1)?.sequence ?? 0) + 1;
  const token = randomUuid();
  const links = await keepWhatIsThere(folder, plan.changes, sequence);
  const root = target.root;
  const begin: CheckpointRecord = {
    type: "begin",
    n: sequence,
    kind: request.kind,
    at: new Date(request.now()).toISOString(),
    ...defined({ root }),
    target: target.id,
  };
  await appendRecords(folder.log, [begin, ...links, { type: "apply", n: sequence, token, emptied: plan.emptied }], folder.sync);

  const { blobs, maxFileBytes, sync } = folder;
  const steps: readonly Step[] = plan.changes;
  try {
    await applySteps(steps, { blobs, maxFileBytes, sync, token, emptied: plan.emptied });
  } catch (error) {
    if (error instanceof ApplyUndone)
      await appendRecords(folder.log, [{ type: "done", n: sequence, how: "undone" }], folder.sync);
    throw restoreFailed(error, request.kind);
  }
  await appendRecords(folder.log, [{ type: "done", n: sequence, how: "applied" }], folder.sync);
  return { type: "restored", checkpointId: checkpointId(request.kind, sequence), ...found };
}

async function keepWhatIsThere(
  folder: SessionFolder,
  changes: readonly PlannedChange[],
  sequence: number,
): Promise<CheckpointRecord[]> {
  const links: CheckpointRecord[] = [];
  for (const { path, from, to } of changes) {
    const before = await folder.blobs.save(path);
    if (!sameContent(before, from) || !sameMode(before, from))
      throw new RuntimeError("busy", `${path} was changed by somebody else just now, so nothing was restored`, {
        retryable: true,
      });
    const made = missingFolders(path);
    links.push({ type: "link", n: sequence, path, before, intended: to, ...(made.length > 0 && { made }) });
  }
  return links;
}

function restoreFailed(error: unknown, kind: RestoreKind): RuntimeError {
  const reason = messageOf(error);
  if (error instanceof ApplyUndone)
    return new RuntimeError("storage-failed", `The ${kind} was stopped and the files are as they were: ${reason}`, {
      cause: error,
    });
  return new RuntimeError("storage-failed", `The ${kind} was stopped half way: ${reason}`, {
    cause: error,
    hint: "The next restore or rollback of this session brings it to its end; nothing is lost",
  });
}
