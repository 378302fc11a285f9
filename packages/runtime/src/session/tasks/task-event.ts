import type { AgentEvent } from "../../protocol/events.ts";
import type { BackgroundJobGroupEvent } from "../../protocol/job-group.ts";
import type { BackgroundTaskEvent } from "../../tasks/background/task-contract.ts";

/** What happened to work beside the conversation, as listeners of a session know it; undefined for everything else. */
export function toTaskEvent(event: AgentEvent): BackgroundTaskEvent | undefined {
  switch (event.type) {
    case "background.created":
      return { type: "background_task_created", task: event.task };
    case "background.started":
      return { type: "background_task_started", task: event.task };
    case "background.updated":
      return { type: "background_task_updated", task: event.task };
    case "background.ended": {
      const { status } = event.task;
      const how = status === "completed" || status === "cancelled" ? status : "failed";
      return { type: `background_task_${how}`, task: event.task };
    }
    case "background.closed":
      return { type: "background_task_closed", taskId: event.id };
    case "background.delta":
      return { type: "background_task_text_delta", taskId: event.id, delta: event.text };
    case "background.activity":
      return { ...event.activity, taskId: event.id };
    default:
      return undefined;
  }
}

/** The same for groups of tasks. */
export function toGroupEvent(event: AgentEvent): BackgroundJobGroupEvent | undefined {
  switch (event.type) {
    case "group.created":
      return { type: "background_job_group_created", group: event.group };
    case "group.updated":
      return { type: "background_job_group_updated", group: event.group };
    case "group.ended":
      return { type: "background_job_group_completed", group: event.group };
    default:
      return undefined;
  }
}

const work: ReadonlySet<string> = new Set([
  ...["turn.started", "turn.ended", "background.created", "background.started", "background.updated", "background.ended"],
  ...["background.closed", "group.created", "group.updated", "group.ended"],
]);

/** Does it change what goes on in a session, as somebody would show it? */
export function changesWork({ type, taskId }: AgentEvent): boolean {
  return taskId === undefined && work.has(type);
}
