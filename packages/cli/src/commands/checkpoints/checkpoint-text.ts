import type { CheckpointInspection, CheckpointSummary, RestorePlan, RestoreResult } from "@outrider/runtime/admin";

/** One line about a checkpoint. */
export function describeCheckpoint({ id, at, fileCount, commandCount, prompt, target, progress }: CheckpointSummary): string {
  const facts = [countOf(fileCount, "file"), ...(commandCount > 0 ? [countOf(commandCount, "shell command")] : [])].join(", ");
  const what = target === undefined ? (prompt ?? "") : `to ${target}${progressWords[progress ?? "applied"]}`;
  return `${id}  ${at}  ${facts}  ${what}`.trimEnd();
}

const progressWords = {
  applied: "",
  prepared: " (stopped before it changed anything)",
  applying: " (cut off half way: outrider checkpoints recover)",
  undone: " (undone)",
  left: " (cut off half way and left so)",
} as const;

/** Everything there is to say before going back. */
export function describeInspection({ checkpoint, files, commands, restore, rollback }: CheckpointInspection): string[] {
  return [
    describeCheckpoint(checkpoint),
    "",
    ...(files.length > 0 ? ["Files, as they were before:"] : []),
    ...files.map(({ shown, before, available, reason }) => `  ${shown}: ${stateWords(before, available, reason)}`),
    ...(commands.length > 0 ? ["Shell commands, whose changes are not covered:"] : []),
    ...commands.map(({ command }) => `  ${command}`),
    "",
    `restore ${checkpoint.id} would undo ${restore.checkpoints.join(", ") || "nothing"}:`,
    ...describePlan(restore),
    `rollback ${checkpoint.id} would undo ${rollback.checkpoints.join(", ")}:`,
    ...describePlan(rollback),
  ];
}

/** What was done, or why not, and what to do next. */
export function describeResult(result: RestoreResult, { action, sessionId }: { action: string; sessionId: string }): string[] {
  const { plan, recovered } = result;
  return [
    ...(recovered ? [`${recovered.checkpointId} had been cut off and is complete now`] : []),
    headline(result, action),
    ...describePlan(plan).filter((line) => line !== noChange),
    ...(result.type === "refused" ? [forceHint] : []),
    ...(result.type === "restored"
      ? [`To undo this: outrider checkpoints rollback ${result.checkpointId} --session ${sessionId}`]
      : []),
  ];
}

export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const forceHint = "--force overwrites what is in conflict, keeping a copy, and leaves alone what cannot be restored";
const noChange = "  no file would change";

function stateWords(before: CheckpointInspection["files"][number]["before"], available: boolean, reason?: string): string {
  if (reason !== undefined) return `not covered: ${reason}`;
  if (!available) return "its copy is gone";
  if (before.kind === "absent") return "did not exist";
  if (before.kind === "link") return `a symbolic link to ${before.to}`;
  return before.kind === "file" ? `${countOf(before.size, "byte")}, mode ${(before.mode ?? 0).toString(8)}` : before.kind;
}

/** What a plan would do, and what stands against it. */
function describePlan(plan: RestorePlan): string[] {
  const { changes, conflicts, obstacles, uncovered, commands, damaged } = plan;
  return [
    ...changes.map(({ action, shown }) => `  ${action} ${shown}`),
    ...conflicts.map(({ shown, reason }) => `  conflict: ${shown}: ${reason}`),
    ...obstacles.map(({ shown, reason }) => `  cannot be restored: ${shown}: ${reason}`),
    ...(damaged > 0 ? [`  ${countOf(damaged, "line")} of the log cannot be read: there may have been more changes`] : []),
    ...uncovered.map(({ shown, reason }) => `  not covered: ${shown}: ${reason}`),
    ...(commands.length > 0
      ? [`  ${countOf(commands.length, "shell command")} may have changed files that are not covered`]
      : []),
    ...(changes.length === 0 ? [noChange] : []),
  ];
}

function headline(result: RestoreResult, action: string): string {
  const files = countOf(result.plan.changes.length, "file");
  switch (result.type) {
    case "restored":
      return `${files} restored, as ${result.checkpointId}:`;
    case "planned":
      return `${action} would change ${files}:`;
    case "unchanged":
      return "Nothing to do: the files are as they were";
    case "refused":
      return "Refused, nothing was changed:";
  }
}
