import type { BackgroundTaskKind, BackgroundTaskState } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { defined } from "../../util/defined.ts";
import type { ExecutionOrigin } from "./execution-origin.ts";

export type ExecutionControl = "select" | "cancel" | "close" | "send" | "read_log" | "wait";

/** One thing that goes on or went on in a session: the conversation, a task, or a group of tasks. */
export type ExecutionWorkspaceEntry = {
  readonly id: string;
  /** Of the session, task or group. */
  readonly sourceId: string;
  readonly kind: "main_thread" | "background_task" | "background_group";
  readonly parentId?: string;
  /** The group a task belongs to; the last one that was made, if there are several. */
  readonly groupId?: string;
  readonly origin: ExecutionOrigin;
  readonly taskKind?: BackgroundTaskKind;
  /** `waiting_input`: somebody has to answer before it goes on. */
  readonly status: "active" | "idle" | "waiting_input" | Exclude<BackgroundTaskState["status"], "waiting_permission">;
  readonly title: string;
  readonly subtitle?: string;
  readonly preview?: string;
  readonly currentAction?: string;
  readonly unread: boolean;
  readonly attention: "none" | "unread" | "failed" | "permission" | "completed";
  /** `collapsed`: nobody misses it in a list of what matters now. */
  readonly visibility: "default" | "collapsed";
  readonly startedAt?: string;
  readonly updatedAt: string;
  /** What makes sense now. Each is a call of its own, which says no where it must. */
  readonly controls: readonly ExecutionControl[];
};

export type ExecutionWorkspaceSnapshot = {
  readonly sessionId: string;
  /** The conversation first, then what began first. */
  readonly entries: readonly ExecutionWorkspaceEntry[];
};

export type ExecutionWorkspaceFilter = {
  readonly kind?: ExecutionWorkspaceEntry["kind"] | undefined;
  readonly visibility?: ExecutionWorkspaceEntry["visibility"] | undefined;
  readonly attention?: ExecutionWorkspaceEntry["attention"] | undefined;
};

export type ExecutionWorkspaceSource = {
  readonly sessionId: string;
  readonly title?: string | undefined;
  /** A turn is at work. */
  readonly isActive: boolean;
  /** What the conversation said last. */
  readonly preview?: string | undefined;
  readonly updatedAt: string;
  readonly tasks: readonly BackgroundTaskState[];
  readonly groups: readonly BackgroundJobGroupState[];
};

const previewLength = 120;

export function filterExecutionWorkspaceEntries(
  { entries }: ExecutionWorkspaceSnapshot,
  { kind, visibility, attention }: ExecutionWorkspaceFilter = {},
): ExecutionWorkspaceEntry[] {
  return entries.filter(
    (entry) =>
      (kind === undefined || entry.kind === kind) &&
      (visibility === undefined || entry.visibility === visibility) &&
      (attention === undefined || entry.attention === attention),
  );
}

/** The conversation itself. */
export function toMainEntry({
  sessionId,
  title,
  isActive,
  preview,
  updatedAt,
}: ExecutionWorkspaceSource): ExecutionWorkspaceEntry {
  return {
    ...{ id: "main", sourceId: sessionId, kind: "main_thread", origin: { kind: "user_prompt", sessionId } },
    ...{ status: isActive ? "active" : "idle", title: title ?? "Conversation", unread: false, attention: "none" },
    ...defined({ preview: shortened(preview) }),
    ...{ visibility: "default", updatedAt, controls: isActive ? ["select", "cancel", "send"] : ["select", "send"] },
  };
}

/** One line of it. */
export function shortened(text: string | undefined): string | undefined {
  const line = text?.replace(/\s+/g, " ").trim();
  return line && line.length > previewLength ? `${line.slice(0, previewLength - 1)}…` : line;
}
