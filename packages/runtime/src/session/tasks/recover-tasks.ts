import type { StoredEvents } from "../../journal/store.ts";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { AgentEvent, EventType } from "../../protocol/events.ts";
import { openGroupsOf } from "./record-groups.ts";
import { isTerminal } from "../../tasks/background/task-status.ts";

export type RecoveredTasks = {
  /** Were open when the process ended that had started them. */
  readonly stale: readonly BackgroundTaskState[];
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

/** Pure. A copy of a session does not have the tasks of the original. */
export function recoverTasks(events: StoredEvents): RecoveredTasks {
  const [start] = events.of("session.started");
  const lastCopied = start?.forkedFrom?.seq ?? 0;
  const open = new Map<string, BackgroundTaskState>();
  for (const event of events.of(...kinds)) {
    if (event.seq <= lastCopied) continue;
    if (event.type === "background.closed") open.delete(event.id);
    else if (isTerminal(event.task.status) && !event.task.unread) open.delete(event.task.id);
    else open.set(event.task.id, event.task);
  }
  const all = [...open.values()];
  const isAsleep = ({ status, schedule }: BackgroundTaskState): boolean => schedule !== undefined && !isTerminal(status);
  return {
    asleep: all.filter(isAsleep),
    stale: all.filter((task) => !isTerminal(task.status) && !isAsleep(task)),
    untold: all.filter(({ status }) => isTerminal(status)),
  };
}

/** How such a task is remembered: nobody can say how it went. */
export function toStale(task: BackgroundTaskState, at: string): BackgroundTaskState {
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
  return Number(/_(\d+)$/.exec(events.last("background.created")?.task.id ?? "")?.[1] ?? 0);
}
