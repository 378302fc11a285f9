import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { summaryOf } from "../../session/tasks/task-notice.ts";
import { type TaskFrame, toTaskState } from "./task-frames.ts";

/** What frames say about work that goes on beside the conversation: which there is, that one has begun, how it ended. */
export class BackgroundFrames {
  readonly #active = new Map<string, BackgroundTaskState>();
  readonly #tellsAgents: boolean;

  /** `tellsAgents`: nobody else tells of an agent's beginning and end. */
  constructor({ tellsAgents = false }: { readonly tellsAgents?: boolean } = {}) {
    this.#tellsAgents = tellsAgents;
  }

  frames(event: AgentEvent): TaskFrame[] {
    if (!("task" in event) || !this.#isShown(event.task)) return [];
    switch (event.type) {
      case "background.started":
        this.#active.set(event.task.id, event.task);
        return [this.changed(), ...(this.#isTold(event.task) ? [toStarted(event.task)] : [])];
      case "background.ended": {
        const wasActive = this.#active.delete(event.task.id);
        return [...(this.#isTold(event.task) ? endedFrames(event.task) : []), ...(wasActive ? [this.changed()] : [])];
      }
      default:
        return [];
    }
  }

  has(taskId: string | undefined): boolean {
    return taskId !== undefined && this.#active.has(taskId);
  }

  /** Claude Code shows a schedule by what it makes the session do. */
  #isShown({ kind }: BackgroundTaskState): boolean {
    return this.#tellsAgents || kind !== "scheduled";
  }

  /** An agent tells its own beginning and end, with what it was asked; not the end of one whose session was killed. */
  #isTold({ kind, timeoutReason }: BackgroundTaskState): boolean {
    return this.#tellsAgents || kind !== "agent" || timeoutReason === "stale_worker";
  }

  changed(): TaskFrame {
    const tasks = [...this.#active.values()].map((task) => ({
      ...runOf(task),
      task_type: typeOf(task),
      ...(task.agentType !== undefined && { subagent_type: task.agentType }),
      description: task.label,
    }));
    return { subtype: "background_tasks_changed", tasks };
  }
}

function toStarted(task: BackgroundTaskState): TaskFrame {
  return { subtype: "task_started", ...idsOf(task), description: task.label, is_backgrounded: true, task_type: typeOf(task) };
}

function endedFrames(task: BackgroundTaskState): TaskFrame[] {
  const status = task.status === "cancelled" ? "stopped" : task.status;
  return [
    {
      subtype: "task_updated",
      ...runOf(task),
      patch: { status: toTaskState(status), end_time: Date.parse(task.completedAt ?? task.updatedAt) },
    },
    {
      subtype: "task_notification",
      ...idsOf(task),
      status,
      output_file: task.logPath ?? "",
      summary: summaryOf(task),
    },
  ];
}

function idsOf(task: BackgroundTaskState): Record<string, unknown> {
  const callId = task.metadata?.["callId"];
  return { ...runOf(task), ...(callId !== undefined && { tool_use_id: callId }) };
}

function runOf({ id, metadata }: BackgroundTaskState): Record<string, unknown> {
  return { task_id: id, ...(metadata?.["runId"] !== undefined && { run_id: metadata["runId"] }) };
}

function typeOf({ kind }: BackgroundTaskState): string {
  return { agent: "local_agent", process: "local_bash", scheduled: "scheduled" }[kind];
}
