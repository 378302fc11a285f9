import type { BackgroundTaskKind, BackgroundTaskMetadata, BackgroundTaskState } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { defined } from "../../util/defined.ts";
import { summarizeBackgroundJobGroup } from "./job-groups.ts";
import { isTerminal } from "./task-status.ts";

/** Who had the work begun. For people who look: it permits nothing. */
export type ExecutionOrigin = {
  readonly kind: "user_prompt" | "slash_command" | "model_command" | "tool_call" | "skill" | "transport" | "system";
  readonly sessionId: string;
  readonly turnId?: string | undefined;
  readonly commandName?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly skillId?: string | undefined;
  readonly label?: string | undefined;
};

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

/** Everything a surface needs to show what goes on. Only looks: nothing that is shown, listed or chosen changes a task. */
export function createExecutionWorkspaceSnapshot(source: ExecutionWorkspaceSource): ExecutionWorkspaceSnapshot {
  const groupOf = new Map<string, string>();
  for (const { id, taskIds } of source.groups) for (const taskId of taskIds) groupOf.set(taskId, id);
  const work = [...source.tasks.map((task) => toTask(task, groupOf.get(task.id))), ...source.groups.map(toGroup)];
  return { sessionId: source.sessionId, entries: [toMain(source), ...work.toSorted(byStart)] };
}

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

const originKeys = ["turnId", "commandName", "toolCallId", "skillId", "label"] as const;
const prefix = "origin.";

/** The registry keeps what it is given and reads none of it; an origin is kept there under keys of its own. */
export function originToMetadata({ kind, sessionId, ...more }: ExecutionOrigin): BackgroundTaskMetadata {
  const rest = originKeys.flatMap((key) => (more[key] === undefined ? [] : [[`${prefix}${key}`, more[key]] as const]));
  return { [`${prefix}kind`]: kind, [`${prefix}sessionId`]: sessionId, ...Object.fromEntries(rest) };
}

function originOf({
  metadata = {},
  parentSessionId,
}: Pick<BackgroundTaskState, "metadata" | "parentSessionId">): ExecutionOrigin {
  const text = (key: string): string | undefined => {
    const value = metadata[`${prefix}${key}`];
    return typeof value === "string" ? value : undefined;
  };
  const kind = (text("kind") ?? "system") as ExecutionOrigin["kind"]; // written by `originToMetadata` alone
  const rest = Object.fromEntries(originKeys.flatMap((key) => (text(key) === undefined ? [] : [[key, text(key)]])));
  return { kind, sessionId: text("sessionId") ?? parentSessionId, ...rest };
}

function toMain({ sessionId, title, isActive, preview, updatedAt }: ExecutionWorkspaceSource): ExecutionWorkspaceEntry {
  return {
    ...{ id: "main", sourceId: sessionId, kind: "main_thread", origin: { kind: "user_prompt", sessionId } },
    ...{ status: isActive ? "active" : "idle", title: title ?? "Conversation", unread: false, attention: "none" },
    ...defined({ preview: shortened(preview) }),
    ...{ visibility: "default", updatedAt, controls: isActive ? ["select", "cancel", "send"] : ["select", "send"] },
  };
}

function toTask(task: BackgroundTaskState, groupId: string | undefined): ExecutionWorkspaceEntry {
  const { id, kind, label, status, agentType, currentAction, unread, startedAt, updatedAt, parentTaskId } = task;
  const attention = attentionOf(task);
  return {
    ...{ id: `task:${id}`, sourceId: id, kind: "background_task", taskKind: kind, origin: originOf(task), title: label },
    ...defined({ parentId: parentTaskId && `task:${parentTaskId}`, groupId: groupId && `group:${groupId}` }),
    status: status === "waiting_permission" ? "waiting_input" : status,
    ...defined({ subtitle: agentType ?? task.commandPreview, preview: previewOf(task), currentAction, startedAt }),
    ...{ unread, attention, visibility: isQuiet(task) ? "collapsed" : "default", updatedAt, controls: controlsOf(task) },
  };
}

function toGroup(group: BackgroundJobGroupState): ExecutionWorkspaceEntry {
  const { id, label, status, waitPolicy, parentSessionId, createdAt, updatedAt } = group;
  const { total, pending, failed } = summarizeBackgroundJobGroup(group);
  const isOver = status === "completed";
  return {
    ...{ id: `group:${id}`, sourceId: id, kind: "background_group", origin: { kind: "system", sessionId: parentSessionId } },
    ...{ status, title: label ?? id, subtitle: waitPolicy, preview: `${total - pending} of ${total} ended` },
    ...{ unread: false, attention: failed > 0 ? "failed" : isOver ? "completed" : "none" },
    ...{ visibility: isOver && failed === 0 ? "collapsed" : "default", startedAt: createdAt, updatedAt },
    controls: isOver ? ["select"] : ["select", "wait"],
  };
}

function attentionOf({ status, unread, result }: BackgroundTaskState): ExecutionWorkspaceEntry["attention"] {
  if (status === "waiting_permission") return "permission";
  if (status === "failed" || (result?.exitCode ?? 0) !== 0) return "failed";
  if (unread) return "unread";
  return status === "completed" ? "completed" : "none";
}

/** It ended well, somebody knows of it, and nothing of it is left to be taken over. */
function isQuiet({ status, unread, result, worktreeStatus }: BackgroundTaskState): boolean {
  return status === "completed" && !unread && (result?.exitCode ?? 0) === 0 && (worktreeStatus ?? "removed") === "removed";
}

function controlsOf({ kind, status, logPath, transcriptPath }: BackgroundTaskState): ExecutionControl[] {
  const reads: ExecutionControl[] = logPath === undefined && transcriptPath === undefined ? [] : ["read_log"];
  if (isTerminal(status)) return ["select", ...reads, "close"];
  const sends: ExecutionControl[] = status === "running" && kind !== "scheduled" ? ["send"] : [];
  return ["select", "cancel", ...sends, ...reads, "wait"];
}

function previewOf({ error, result, promptPreview, commandPreview }: BackgroundTaskState): string | undefined {
  return shortened(error?.message ?? (result?.output.trim() || undefined) ?? promptPreview ?? commandPreview);
}

function shortened(text: string | undefined): string | undefined {
  const line = text?.replace(/\s+/g, " ").trim();
  return line && line.length > previewLength ? `${line.slice(0, previewLength - 1)}…` : line;
}

/** What has not begun comes after what has. */
function byStart(first: ExecutionWorkspaceEntry, second: ExecutionWorkspaceEntry): number {
  const [one, other] = [first.startedAt ?? "~", second.startedAt ?? "~"];
  if (one !== other) return one < other ? -1 : 1;
  return first.id < second.id ? -1 : first.id > second.id ? 1 : 0;
}
