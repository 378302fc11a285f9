import { addUsage, noUsage, type ToolResultPart, type Usage } from "../../protocol/content.ts";
import type { AgentEvent, Denial, SessionFacts } from "../../protocol/events.ts";
import { TaskFrames } from "./task-frames.ts";

/** What the frames of one run need to know of the events before them. */
export class RunTotals {
  facts: SessionFacts | undefined;
  ended: AgentEvent<"turn.ended"> | undefined;
  stopReason: string | null = null;
  toolCalls = 0;
  readonly denials: Denial[] = [];
  readonly calls: AgentEvent<"message.ended" | "side-call.ended">[] = [];
  readonly tasks: TaskFrames = new TaskFrames();
  readonly #inputs = new Map<string, unknown>();

  /** Of the conversation itself; subagents have their own. */
  get usage(): Usage {
    return this.calls
      .filter((call) => call.taskId === undefined)
      .reduce((sum, call) => addUsage(sum, call.message.usage), noUsage);
  }

  apply(event: AgentEvent): void {
    this.tasks.apply(event);
    if (event.type === "session.started") this.facts = event;
    else if (event.type === "turn.ended") this.ended = event;
    else if (event.type === "message.ended") this.#applyMessage(event);
    else if (event.type === "side-call.ended") this.calls.push(event);
    else if (event.type === "tool.ended") this.#applyTool(event);
  }

  #applyMessage(event: AgentEvent<"message.ended">): void {
    const { message } = event;
    this.calls.push(event);
    if (event.taskId === undefined) this.stopReason = message.stopReason ?? null;
    for (const part of message.content) if (part.type === "tool-call") this.#inputs.set(keyOf(event, part.callId), part.input);
  }

  #applyTool(event: AgentEvent<"tool.ended">): void {
    this.toolCalls++;
    const key = keyOf(event, event.callId);
    const input = this.#inputs.get(key);
    this.#inputs.delete(key);
    if (event.status !== "denied") return;
    this.denials.push({ callId: event.callId, tool: event.name, input, reason: textContent(event.result) });
  }
}

/** Providers that number their calls give subagents the same ids. */
function keyOf({ taskId }: AgentEvent, callId: string): string {
  return `${taskId ?? ""} ${callId}`;
}

export function textContent(result: ToolResultPart): string {
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
