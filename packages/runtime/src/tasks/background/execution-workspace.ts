import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { defined } from "../../util/defined.ts";
import {
  type ExecutionControl,
  type ExecutionWorkspaceEntry,
  type ExecutionWorkspaceSnapshot,
  type ExecutionWorkspaceSource,
  shortened,
  toMainEntry,
} from "./execution-entries.ts";
import { originOf } from "./execution-origin.ts";
import { summarizeBackgroundJobGroup } from "./group-summary.ts";
import { isTerminal } from "./task-status.ts";

/** Everything a surface needs to show what goes on. Only looks: nothing that is shown, listed or chosen changes a task. */
export function createExecutionWorkspaceSnapshot(source: ExecutionWorkspaceSource): ExecutionWorkspaceSnapshot {
  const groupOf = new Map<string, string>();
  for (const { id, taskIds } of source.groups) for (const taskId of taskIds) groupOf.set(taskId, id);
  const work = [...source.tasks.map((task) => toTask(task, groupOf.get(task.id))), ...source.groups.map(toGroup)];
  return { sessionId: source.sessionId, entries: [toMainEntry(source), ...work.toSorted(byStart)] };
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

/** What has not begun comes after what has. */
function byStart(first: ExecutionWorkspaceEntry, second: ExecutionWorkspaceEntry): number {
  const [one, other] = [first.startedAt ?? "~", second.startedAt ?? "~"];
  if (one !== other) return one < other ? -1 : 1;
  return first.id < second.id ? -1 : first.id > second.id ? 1 : 0;
}
