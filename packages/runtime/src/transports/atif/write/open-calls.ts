import { Transcript } from "../../../journal/transcript.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Extra, ObservationResult, Step, SubagentRef, ToolCall } from "../atif.ts";

/** The calls of the latest answer: what is learned about a call is written to the step that made it. */
export class OpenCalls {
  /** The step that made the calls. */
  readonly step: Step;
  readonly #answered = new Map<string, ObservationResult>();
  readonly #refs = new Map<string, SubagentRef[]>();
  /** Knows in which words the model hears of a call that has no result. */
  readonly #transcript = new Transcript();

  constructor(step: Step, answer: AgentEvent<"message.ended">) {
    this.step = step;
    this.#transcript.apply(answer);
  }

  get complete(): boolean {
    return this.#answered.size === (this.step.tool_calls?.length ?? 0);
  }

  note(callId: string, extra: Extra): void {
    const call = this.#find(callId);
    if (call) call.extra = { ...call.extra, ...extra };
  }

  /** What is run may differ from what the model had asked for. */
  start(event: AgentEvent<"tool.started">): void {
    const { callId, input } = event;
    this.#transcript.apply(event);
    const call = this.#find(callId);
    if (call && JSON.stringify(call.arguments) !== JSON.stringify(input ?? {})) this.note(callId, { input_run: input });
  }

  /** Results stand in the order of their calls. A second result for an id goes to the next call that had the same one. */
  answer(callId: string, result: ObservationResult): void {
    const open = this.step.tool_calls?.find((call) => isNamed(call, callId) && !this.#answered.has(call.tool_call_id));
    if (!open) return;
    this.#answered.set(open.tool_call_id, { ...result, source_call_id: open.tool_call_id });
    this.#write();
  }

  /** The turn is over: calls without a result get the one the model is told. */
  close(): void {
    if (this.complete) return;
    const [, message] = this.#transcript.messages;
    for (const part of message?.role === "tool" ? message.content : [])
      this.answer(part.callId, {
        content: part.content.map((text) => (text.type === "text" ? text.text : "")).join("\n"),
        extra: { status: "interrupted", is_error: true },
      });
  }

  refer(callId: string, ref: SubagentRef): void {
    this.#refs.set(callId, [...(this.#refs.get(callId) ?? []), ref]);
    this.#write();
  }

  #write(): void {
    const results = (this.step.tool_calls ?? []).flatMap(({ tool_call_id: id }) => {
      const result = this.#answered.get(id);
      const refs = this.#refs.get(id);
      return result ? [{ ...result, ...(refs && { subagent_trajectory_ref: refs }) }] : [];
    });
    if (results.length > 0) this.step.observation = { results };
  }

  #find(callId: string): ToolCall | undefined {
    return this.step.tool_calls?.find((call) => call.tool_call_id === callId);
  }
}

function isNamed(call: ToolCall, callId: string): boolean {
  return call.tool_call_id === callId || call.tool_call_id.startsWith(`${callId}#`);
}
