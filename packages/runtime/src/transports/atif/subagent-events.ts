import type { AgentEvent } from "../../protocol/events.ts";

/** The one place that knows how the events of subagents are marked. */
export type TaskStart = { readonly taskId: string; readonly callId?: string; readonly agent?: string; readonly prompt?: string };

/** The task an event belongs to; undefined for the session's own. */
export function taskOf(event: AgentEvent): string | undefined {
  return isTaskEvent(event) ? undefined : textField(event, "taskId");
}

export function taskStartOf(event: AgentEvent): TaskStart | undefined {
  const taskId = textField(event, "taskId");
  if (typeOf(event) !== "task.started" || taskId === undefined) return undefined;
  const callId = textField(event, "callId");
  const agent = textField(event, "agent");
  const prompt = textField(event, "prompt");
  return {
    taskId,
    ...(callId !== undefined && { callId }),
    ...(agent !== undefined && { agent }),
    ...(prompt !== undefined && { prompt }),
  };
}

export function isTaskEnd(event: AgentEvent): boolean {
  return typeOf(event) === "task.ended";
}

function isTaskEvent(event: AgentEvent): boolean {
  return typeOf(event).startsWith("task.");
}

function typeOf(event: AgentEvent): string {
  return event.type;
}

function textField(event: AgentEvent, name: string): string | undefined {
  const value: unknown = Reflect.get(event, name);
  return typeof value === "string" ? value : undefined;
}
