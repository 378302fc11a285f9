import type { AssistantMessage, AssistantPart, Usage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toStopReason } from "./stop-reason.ts";
import { toWireJson } from "./wire-line.ts";

/** A block that has come to its end while its message still runs. */
export type StreamedBlock = {
  readonly messageId: string;
  readonly index: number;
  readonly part: AssistantPart;
  readonly at: string;
};

export type PartialWriter = {
  /** Makes a frame of an event's JSON, with more fields of its own. */
  readonly write: (json: string, fields?: object) => string;
  /** The whole block as a frame; it stands before the end of the block. */
  readonly block: (block: StreamedBlock) => string;
  readonly model: () => string;
  readonly usage: (usage: Usage | undefined) => unknown;
  /** More fields of a message's first event, which comes at this time. */
  readonly opening: (at: string) => object;
};

/** `deltaHead` stands before the text of each delta: only the text differs, and there are thousands. */
type Open = { messageId: string; index: number; block: string; deltaHead: string; text: string; kind: Kind; signature: string };
type Kind = {
  readonly start: object;
  readonly deltaType: string;
  readonly field: string;
  /** Undefined when what came makes no block: its frame then waits for the whole message. */
  readonly toPart: (text: string, signature: string) => AssistantPart | undefined;
};

/**
 * Rebuilds the Messages API's own event sequence from deltas: message_start, one start/delta/stop per block, message_stop.
 * An attempt that is given up is closed the same way, so that a reader's state never leaks into the next one.
 */
export class PartialMessages {
  readonly #out: PartialWriter;
  #open: Open | undefined;

  constructor(out: PartialWriter) {
    this.#out = out;
  }

  /** Deltas go out before anything else of their event; what is to be noticed stands before the delta, in its block. */
  before(event: AgentEvent, notice = ""): string {
    switch (event.type) {
      case "text.delta":
        return this.#delta(event, { block: "text", text: event.text }, textKind);
      case "reasoning.delta":
        return this.#thought(event, notice);
      case "tool-input.delta":
        return this.#delta(event, { block: event.callId, text: event.json }, () => toolKind(event.callId, event.name));
      case "retry.scheduled":
      case "fallback.used":
        return this.#abandon(0);
      default:
        return notice;
    }
  }

  /** A message is closed after its whole blocks were written; one that was cut off, after it was said that it was. */
  after(event: AgentEvent): string {
    if (event.type === "turn.ended") return this.#abandon((this.#open?.index ?? 0) + 1); // what was said of the open one is kept
    if (event.type !== "message.ended" || event.message.finish === "interrupted") return "";
    return this.#close(event.message);
  }

  #thought(event: AgentEvent<"reasoning.delta">, notice: string): string {
    const { signature, text } = event;
    if (signature === undefined) return this.#delta(event, { block: "thinking", text, notice }, thinkingKind);
    const opened = this.#open?.block === "thinking" ? "" : this.#openBlock(event, "thinking", thinkingKind());
    const open = this.#open;
    if (!open) return opened;
    open.signature += signature;
    const delta = { type: "signature_delta", signature };
    return opened + this.#event({ type: "content_block_delta", index: open.index, delta });
  }

  #delta(event: Delta, part: { block: string; text: string; notice?: string }, kindOf: () => Kind): string {
    const { notice = "" } = part;
    let before = "";
    if (this.#open?.block !== part.block) before = this.#openBlock(event, part.block, kindOf());
    const open = this.#open;
    if (!open) return before;
    open.text += part.text;
    return before + notice + this.#out.write(`${open.deltaHead}${toWireJson(part.text)}}}`);
  }

  #openBlock({ messageId, at }: Delta, block: string, kind: Kind): string {
    const last = this.#open;
    const index = last ? last.index + 1 : 0;
    const deltaHead = `{"type":"content_block_delta","index":${index},"delta":{"type":"${kind.deltaType}","${kind.field}":`;
    this.#open = { messageId, index, block, deltaHead, text: "", kind, signature: "" };
    const before = last ? this.#end(last, at) : this.#begin(messageId, at);
    return before + this.#event({ type: "content_block_start", index, content_block: kind.start });
  }

  #end({ messageId, index, kind, text, signature }: Open, at: string): string {
    const part = kind.toPart(text, signature);
    const whole = part ? this.#out.block({ messageId, index, part, at }) : "";
    return whole + this.#event({ type: "content_block_stop", index });
  }

  #begin(id: string, at: string): string {
    const usage = this.#out.usage(undefined);
    const nothing = { content: [], stop_reason: null, stop_sequence: null, usage };
    const message = { id, type: "message", role: "assistant", model: this.#out.model(), ...nothing };
    return this.#out.write(toWireJson({ type: "message_start", message }), this.#out.opening(at));
  }

  #abandon(from: number): string {
    const abandoned_blocks = { api_message_id: this.#open?.messageId, from_block_index: from };
    return this.#close(undefined, { abandoned_blocks });
  }

  #close(message: AssistantMessage | undefined, fields?: object): string {
    const open = this.#open;
    if (!open) return "";
    this.#open = undefined;
    const delta = { stop_reason: message ? toStopReason(message) : null, stop_sequence: message?.stopSequence ?? null };
    return (
      this.#event({ type: "content_block_stop", index: open.index }) +
      this.#event({ type: "message_delta", delta, usage: this.#out.usage(message?.usage) }) +
      this.#out.write(toWireJson({ type: "message_stop" }), fields)
    );
  }

  #event(event: object): string {
    return this.#out.write(toWireJson(event));
  }
}

type Delta = AgentEvent<"text.delta" | "reasoning.delta" | "tool-input.delta">;

const textKind = (): Kind => ({
  start: { type: "text", text: "" },
  deltaType: "text_delta",
  field: "text",
  toPart: (text) => ({ type: "text", text }),
});
const thinkingKind = (): Kind => ({
  start: { type: "thinking", thinking: "", signature: "" },
  deltaType: "thinking_delta",
  field: "thinking",
  toPart: (text, signature) => ({
    type: "reasoning",
    text,
    ...(signature && { providerMetadata: { "anthropic-messages": { signature } } }),
  }),
});
const toolKind = (id: string, name: string): Kind => ({
  start: { type: "tool_use", id, name, input: {} },
  deltaType: "input_json_delta",
  field: "partial_json",
  toPart: (json) => {
    const input = toInput(json);
    return input && { type: "tool-call", callId: id, name, input };
  },
});

function toInput(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
