import type { StoredEvents } from "../../journal/store.ts";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { AgentEvent, EventType } from "../../protocol/events.ts";
import { openGroupsOf } from "./record-groups.ts";
import { toBackgroundTaskError } from "../../tasks/background/task-error.ts";
import { isTerminal } from "../../tasks/background/task-status.ts";
import { toAgentResult } from "../subagents/agent-result.ts";

export type RecoveredTasks = {
  /** Have ended, and the record does not say so yet: their process is gone. */
  readonly ended: readonly BackgroundTaskState[];
  /** Had ended, and the model was not told. */
  readonly untold: readonly BackgroundTaskState[];
  /** Schedules: they go on. */
  readonly asleep: readonly BackgroundTaskState[];
};

const kinds = [
  "background.created",
  "background.started",
  "background.updated",
  "background.ended",
  "background.closed",
] as const;

/** Does the journal say that something was open when it was written last? Most do not, and are not looked at any further. */
export function hasOpenTasks(events: StoredEvents): boolean {
  let latest: AgentEvent | undefined;
  for (const kind of kinds as readonly EventType[]) {
    const last = events.last(kind);
    if (last && last.seq > (latest?.seq ?? 0)) latest = last;
  }
  if (latest !== undefined && !("idle" in latest && latest.idle)) return true;
  return events.last("group.created") !== undefined && openGroupsOf(events).length > 0;
}

const alsoTelling = ["task.ended", "turn.started", "input.added"] as const;

/** After which event nothing was open any more: what had ended by then need not be looked at, however much it is. */
function lastIdle(events: StoredEvents): number {
  const ended = events.last("background.ended", ({ idle }) => idle === true)?.seq ?? 0;
  return Math.max(ended, events.last("background.updated", ({ idle, seq }) => idle === true || seq < ended)?.seq ?? 0);
}

/** Pure. A copy of a session does not have the tasks of the original. */
export function recoverTasks(events: StoredEvents, at: string): RecoveredTasks {
  const [start] = events.of("session.started");
  const lastCopied = start?.forkedFrom?.seq ?? 0;
  const open = new Map<string, BackgroundTaskState>();
  /** Agents that came to their end before the list of tasks heard of it. */
  const finished = new Map<string, BackgroundTaskState>();
  const times = new ScheduledTimes();
  for (const event of events.ofAfter(Math.max(lastCopied, lastIdle(events)), ...kinds, ...alsoTelling)) {
    if (event.type === "turn.started" || event.type === "input.added") {
      for (const id of event.tasks ?? []) {
        times.told(id);
        if (isEnded(open.get(id))) open.delete(id);
      }
    } else if (event.type === "task.ended") {
      const task = open.get(event.taskId);
      if (task && !isEnded(task)) finished.set(task.id, toFinished(task, event));
    } else if (event.type === "background.closed") open.delete(event.id);
    else {
      times.hear(event.task);
      if (isTerminal(event.task.status) && !event.task.unread) open.delete(event.task.id);
      else open.set(event.task.id, event.task);
    }
    if (event.type === "background.created") finished.delete(event.task.id); // it works again
  }
  const all = [...open.values()];
  const schedules = all.filter((task) => task.schedule !== undefined && !isEnded(task));
  const cut = all.filter((task) => !isEnded(task) && task.schedule === undefined);
  return {
    asleep: schedules.filter((task) => !times.isOver(task)).map((task) => times.rearmed(task)),
    ended: [
      ...cut.map((task) => finished.get(task.id) ?? toStale(task, at)),
      ...schedules.filter((task) => times.isOver(task)).map((task) => toCome(task, at)),
    ],
    untold: all.filter(isEnded),
  };
}

/** When schedules were to come, and whether what was to be done then was begun. */
class ScheduledTimes {
  readonly #due = new Map<string, string>();
  readonly #told = new Set<string>();

  hear({ id, status, nextFireAt, parentTaskId }: BackgroundTaskState): void {
    if (parentTaskId !== undefined) this.told(parentTaskId); // its command was started
    if (status !== "sleeping" || nextFireAt === undefined) return;
    this.#due.set(id, nextFireAt);
    this.#told.delete(id);
  }

  told(id: string): void {
    this.#due.delete(id);
    this.#told.add(id);
  }

  /** It comes once, and has come. */
  isOver({ id, status, schedule }: BackgroundTaskState): boolean {
    return status === "running" && schedule?.recurring === false && this.#told.has(id);
  }

  /** One whose time had come, and of which nobody was told, has this time still before it. */
  rearmed(task: BackgroundTaskState): BackgroundTaskState {
    const nextFireAt = this.#due.get(task.id);
    return task.status === "running" && nextFireAt !== undefined ? { ...task, nextFireAt } : task;
  }
}

function isEnded(task: BackgroundTaskState | undefined): boolean {
  return task !== undefined && isTerminal(task.status);
}

function toFinished(task: BackgroundTaskState, { at, ...end }: AgentEvent<"task.ended">): BackgroundTaskState {
  const ended = { ...task, updatedAt: at, completedAt: at, unread: task.mode === "background" };
  try {
    return { ...ended, status: "completed", result: toAgentResult(task.id, { ...end, denials: [] }) };
  } catch (error) {
    return { ...ended, status: "failed", error: toBackgroundTaskError(error).toJSON() };
  }
}

function toCome(task: BackgroundTaskState, at: string): BackgroundTaskState {
  const result = { taskId: task.id, kind: task.kind, output: "It came once" };
  return { ...task, status: "completed", updatedAt: at, completedAt: at, unread: false, result };
}

/** How such a task is remembered: nobody can say how it went. */
function toStale(task: BackgroundTaskState, at: string): BackgroundTaskState {
  return {
    ...task,
    status: "failed",
    updatedAt: at,
    completedAt: at,
    unread: task.mode === "background",
    timeoutReason: "stale_worker",
    error: {
      category: "crash",
      message: "Restored background task is stale; worker cannot be reattached",
      recoverable: false,
    },
  };
}

/** The number in the last name that was given, so that no name is given twice. */
export function lastNumber(events: StoredEvents): number {
  const last = events.last("background.created", ({ task }) => task.metadata?.["agentId"] === undefined); // others have theirs again
  return Number(/_(\d+)$/.exec(last?.task.id ?? "")?.[1] ?? 0);
}
