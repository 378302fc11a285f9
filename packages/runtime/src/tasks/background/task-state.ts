import type { BackgroundTaskResult, BackgroundTaskSchedule, BackgroundTaskState } from "../../protocol/background-task.ts";
import { defined } from "../../util/defined.ts";
import { isMoment } from "../schedules/is-moment.ts";
import type { BackgroundTaskRequest, ScheduledTaskRequest } from "./task-contract.ts";

const previewLength = 120;

/** A state is never changed, only replaced: whoever was given one cannot change the task by it, and no copies are made. */
export function frozen(state: BackgroundTaskState): BackgroundTaskState {
  for (const part of [state.result, state.result?.metadata, state.error, state.metadata, state.schedule])
    if (part) Object.freeze(part);
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
    ...(kind === "scheduled" && { schedule: toSchedule(request), ...promptOf(request) }),
  };
}

function toSchedule({ cronExpression, recurring, agentInstruction, command }: ScheduledTaskRequest): BackgroundTaskSchedule {
  const repeats = isMoment(cronExpression) ? false : recurring;
  return { cronExpression, ...defined({ recurring: repeats, agentInstruction, command }) };
}

function promptOf({ agentInstruction }: ScheduledTaskRequest): Pick<BackgroundTaskState, "promptPreview"> {
  return agentInstruction === undefined ? {} : { promptPreview: preview(agentInstruction) };
}

/** What an earlier process was asked, of a schedule that goes on in this one. */
export function toScheduledRequest(
  state: BackgroundTaskState & { readonly schedule: BackgroundTaskSchedule },
  dueAt: string | undefined,
): ScheduledTaskRequest {
  const { label, mode, parentSessionId, depth, cwd, metadata, schedule } = state;
  return { ...{ kind: "scheduled", label, mode, parentSessionId, depth, cwd }, ...schedule, ...defined({ metadata, dueAt }) };
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
