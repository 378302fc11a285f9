import { addUsage, noUsage, type ToolResultPart, type Usage } from "../../protocol/content.ts";
import type { AgentEvent, Denial, SessionFacts } from "../../protocol/events.ts";
import { TaskFrames } from "./task-frames.ts";

export type ModelCall = AgentEvent<"message.ended" | "side-call.ended">;

/** What the frames of one run need to know of the events before them. A turn counts for itself; what calls cost adds up over all of them. */
export class RunTotals {
  facts: SessionFacts | undefined;
  ended: AgentEvent<"turn.ended"> | undefined;
  stopReason: string | null = null;
  toolCalls = 0;
  /** Of the conversation in this turn; subagents have their own. */
  usage: Usage = noUsage;
  denials: Denial[] = [];
  /** Of the session so far, without what was said in them. */
  readonly calls: ModelCall[];
  readonly tasks: TaskFrames = new TaskFrames();
  readonly #inputs = new Map<string, unknown>();

  constructor(earlier: readonly ModelCall[] = []) {
    this.calls = earlier.map(withoutWords);
  }

  apply(event: AgentEvent): void {
    this.tasks.apply(event);
    if (event.type === "session.started") this.facts = event;
    else if (event.type === "session.changed" && this.facts) this.facts = { ...this.facts, ...changesIn(event) };
    else if (event.type === "turn.started") this.#beginTurn();
    else if (event.type === "turn.ended") this.ended = event;
    else if (event.type === "message.ended") this.#applyMessage(event);
    else if (event.type === "side-call.ended") this.#applyCall(event);
    else if (event.type === "tool.ended") this.#applyTool(event);
  }

  #beginTurn(): void {
    this.ended = undefined;
    this.stopReason = null;
    this.toolCalls = 0;
    this.usage = noUsage;
    this.denials = [];
  }

  #applyCall(event: ModelCall): void {
    this.calls.push(withoutWords(event));
    if (event.taskId === undefined) this.usage = addUsage(this.usage, event.message.usage);
  }

  #applyMessage(event: AgentEvent<"message.ended">): void {
    const { message } = event;
    this.#applyCall(event);
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

/** A session may live for long; only who answered and what it took is needed at its end. */
function withoutWords<T extends ModelCall>(event: T): T {
  return { ...event, message: { ...event.message, content: [] } };
}

function changesIn({ model, permissionMode, tools }: AgentEvent<"session.changed">): Partial<SessionFacts> {
  return { ...(model && { model }), ...(permissionMode && { permissionMode }), ...(tools && { tools }) };
}

/** Providers that number their calls give subagents the same ids. */
function keyOf({ taskId }: AgentEvent, callId: string): string {
  return `${taskId ?? ""} ${callId}`;
}

export function textContent(result: ToolResultPart): string {
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
