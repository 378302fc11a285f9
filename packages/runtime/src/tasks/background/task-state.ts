import type { BackgroundTaskResult, BackgroundTaskState } from "../../protocol/background-task.ts";
import { defined } from "../../util/defined.ts";
import type { BackgroundTaskRequest } from "./task-contract.ts";

const previewLength = 120;

/** A state is never changed, only replaced: whoever was given one cannot change the task by it, and no copies are made. */
export function frozen(state: BackgroundTaskState): BackgroundTaskState {
  for (const part of [state.result, state.result?.metadata, state.error, state.metadata]) if (part) Object.freeze(part);
  return Object.freeze(state);
}

/** Of a task that has not begun. */
export function toState(id: string, request: BackgroundTaskRequest, now: string): BackgroundTaskState {
  const { kind, label, mode, parentSessionId, parentTaskId, depth, cwd, metadata } = request;
  const command = kind === "agent" ? undefined : request.command;
  return {
    ...{ id, kind, label, status: "queued", mode, parentSessionId, depth, cwd, updatedAt: now, unread: false },
    ...defined({ parentTaskId, metadata: metadata && { ...metadata } }),
    ...(kind === "agent" && {
      agentType: request.agentType,
      promptPreview: preview(request.prompt),
      ...defined({ isolation: request.isolation }),
    }),
    ...(command !== undefined && { commandPreview: preview(command) }),
  };
}

function preview(text: string): string {
  return text.length > previewLength ? `${text.slice(0, previewLength - 1)}…` : text;
}

const worktreeKeys = [
  "worktreePath",
  "branchName",
  "worktreeStatus",
  "worktreeNextAction",
  "worktreeBaseRevision",
  "parentWorktreeStatus",
] as const;

/** What a runner tells of the place in which the work was done. */
export function worktreeFields({ metadata = {} }: BackgroundTaskResult): Partial<BackgroundTaskState> {
  const told = worktreeKeys.flatMap((key) => (typeof metadata[key] === "string" ? [[key, metadata[key]] as const] : []));
  return Object.fromEntries(told);
}
