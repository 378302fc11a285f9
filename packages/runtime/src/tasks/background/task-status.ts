import type { BackgroundTaskStatus } from "../../protocol/background-task.ts";
import { BackgroundTaskError } from "./task-error.ts";

export type BackgroundTaskTransition =
  | "START"
  | "REQUEST_PERMISSION"
  | "PERMISSION_ALLOWED"
  | "PERMISSION_DENIED"
  | "COMPLETE"
  | "FAIL"
  | "CANCEL"
  | "SLEEP"
  | "WAKE"
  | "PAUSE"
  | "RESUME";

type Row = Readonly<Partial<Record<BackgroundTaskTransition, BackgroundTaskStatus>>>;

const table: Readonly<Record<BackgroundTaskStatus, Row | undefined>> = {
  queued: { START: "running", CANCEL: "cancelled" },
  running: {
    REQUEST_PERMISSION: "waiting_permission",
    COMPLETE: "completed",
    FAIL: "failed",
    CANCEL: "cancelled",
    SLEEP: "sleeping",
    PAUSE: "paused",
  },
  waiting_permission: { PERMISSION_ALLOWED: "running", PERMISSION_DENIED: "failed", CANCEL: "cancelled" },
  sleeping: { WAKE: "running", PAUSE: "paused", CANCEL: "cancelled" },
  paused: { RESUME: "sleeping", CANCEL: "cancelled" },
  completed: undefined,
  failed: undefined,
  cancelled: undefined,
};

export function isTerminal(status: BackgroundTaskStatus): boolean {
  return table[status] === undefined;
}

/** What a task is after an event; throws for every pair that must not happen. */
export function transitionBackgroundTaskStatus(
  status: BackgroundTaskStatus,
  event: BackgroundTaskTransition,
): BackgroundTaskStatus {
  const next = table[status]?.[event];
  if (next !== undefined) return next;
  const why = isTerminal(status) ? "terminal status" : "unsupported event";
  throw new BackgroundTaskError("validation", `Invalid background task transition: ${status} + ${event} (${why})`);
}
