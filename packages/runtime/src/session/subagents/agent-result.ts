import type { BackgroundTaskMetadata, BackgroundTaskResult } from "../../protocol/background-task.ts";
import { BackgroundTaskError } from "../../tasks/background/task-error.ts";
import { toEndWords } from "../../tasks/subagents/end-words.ts";
import type { TaskEnd } from "../../tasks/task.ts";

/** What a task's end is on the list of tasks. Throws what the model is to read where it did not get to its end. */
export function toAgentResult(taskId: string, end: TaskEnd): BackgroundTaskResult {
  const { outcome, usage } = end;
  const words = toEndWords(end);
  if (outcome.type !== "completed")
    throw new BackgroundTaskError(outcome.type === "failed" ? "provider" : "runner", words, {
      recoverable: outcome.type === "failed" && outcome.error.retryable,
    });
  return { taskId, kind: "agent", output: words, usage, metadata: metadataOf(end) };
}

function metadataOf({ worktree, modelCalls, durationMs }: TaskEnd): BackgroundTaskMetadata {
  return {
    modelCalls,
    durationMs,
    ...(worktree && {
      worktreePath: worktree.path,
      branchName: worktree.branch,
      worktreeStatus: worktree.status,
      worktreeNextAction: worktree.summary,
      worktreeBaseRevision: worktree.base,
    }),
  };
}
