import type { AgentEvent } from "../../../protocol/events.ts";

/** The subagent an event is about the work of; undefined for the session's own, to which the start and the end of a subagent belong. */
export function taskOf(event: AgentEvent): string | undefined {
  return event.type === "task.started" || event.type === "task.ended" ? undefined : event.taskId;
}

/** The same event as the subagent itself would tell it. */
export function toOwnEvent(event: AgentEvent): AgentEvent {
  const { taskId: _, ...own } = event;
  return own as AgentEvent; // only the mark is gone
}
