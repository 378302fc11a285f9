import type { BackgroundTaskState, BackgroundTaskStatus } from "../../protocol/background-task.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { summaryOf } from "../../session/tasks/task-notice.ts";
import type { SessionUpdate } from "./wire.ts";

const statuses: Readonly<Record<BackgroundTaskStatus, "pending" | "in_progress" | "completed" | "failed">> = {
  queued: "pending",
  running: "in_progress",
  waiting_permission: "pending",
  sleeping: "pending",
  paused: "pending",
  completed: "completed",
  failed: "failed",
  cancelled: "failed",
};

/** Clients know no work beside the conversation: it is shown as a call of its own, which may outlive the turn. */
export class TaskUpdates {
  readonly #shown = new Map<string, BackgroundTaskStatus>();

  encode(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "background.created":
      case "background.started":
      case "background.updated":
      case "background.ended":
        return this.#show(event.task);
      case "background.closed":
        this.#shown.delete(event.id);
        return [];
      default:
        return [];
    }
  }

  #show(task: BackgroundTaskState): SessionUpdate[] {
    if (task.mode === "foreground") return []; // its call is there to see
    const before = this.#shown.get(task.id);
    if (before === task.status) return [];
    this.#shown.set(task.id, task.status);
    const fields = { toolCallId: `task-${task.id}`, status: statuses[task.status], ...contentOf(task) };
    if (before !== undefined) return [{ sessionUpdate: "tool_call_update", ...fields }];
    const kind = task.kind === "process" ? "execute" : "other";
    const _meta = { outrider: { task: task.id, kind: task.kind } };
    return [{ sessionUpdate: "tool_call", title: task.label, kind, ...fields, _meta }];
  }
}

function contentOf(task: BackgroundTaskState): { content?: { type: "content"; content: { type: "text"; text: string } }[] } {
  if (task.completedAt === undefined) return {};
  const text = [summaryOf(task), task.result?.output].filter(Boolean).join("\n\n");
  return { content: [{ type: "content", content: { type: "text", text } }] };
}
