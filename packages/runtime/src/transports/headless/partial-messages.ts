import type { AgentEvent } from "../../protocol/events.ts";
import { toSafeJson } from "../../util/jsonl.ts";

/** `deltaHead` stands before the text of each delta: only the text differs, and there are thousands. */
type Open = { index: number; block: string; deltaHead: string };
type Kind = { readonly start: object; readonly deltaType: string; readonly field: string };

/**
 * Rebuilds the Messages API's own event sequence from deltas: message_start, one start/delta/stop per block, message_stop.
 * An attempt that is given up is closed the same way, so that a reader's state never leaks into the next one.
 */
export class PartialMessages {
  readonly #write: (json: string) => string;
  #open: Open | undefined;

  /** `write` makes a frame of an event's JSON. */
  constructor(write: (json: string) => string) {
    this.#write = write;
  }

  /** Deltas go out before anything else of their event. */
  before(event: AgentEvent): string {
    switch (event.type) {
      case "text.delta":
        return this.#delta(event.messageId, { block: "text", text: event.text }, textKind);
      case "reasoning.delta":
        return this.#delta(event.messageId, { block: "thinking", text: event.text }, thinkingKind);
      case "tool-input.delta":
        return this.#delta(event.messageId, { block: event.callId, text: event.json }, () => toolKind(event.callId, event.name));
      case "retry.scheduled":
      case "fallback.used":
      case "turn.ended":
        return this.#close(null);
      default:
        return "";
    }
  }

  /** A message is closed after its whole blocks were written. */
  after(event: AgentEvent): string {
    return event.type === "message.ended" ? this.#close(event.message.stopReason ?? null) : "";
  }

  #delta(messageId: string, part: { block: string; text: string }, kindOf: () => Kind): string {
    let before = "";
    if (this.#open?.block !== part.block) before = this.#openBlock(messageId, part.block, kindOf());
    const open = this.#open;
    return open ? before + this.#write(`${open.deltaHead}${toSafeJson(part.text)}}}`) : before;
  }

  #openBlock(messageId: string, block: string, kind: Kind): string {
    const last = this.#open;
    const index = last ? last.index + 1 : 0;
    const deltaHead = `{"type":"content_block_delta","index":${index},"delta":{"type":"${kind.deltaType}","${kind.field}":`;
    this.#open = { index, block, deltaHead };
    const message = { id: messageId, type: "message", role: "assistant", content: [] };
    const before = last ? { type: "content_block_stop", index: last.index } : { type: "message_start", message };
    return this.#event(before) + this.#event({ type: "content_block_start", index, content_block: kind.start });
  }

  #close(stopReason: string | null): string {
    const open = this.#open;
    if (!open) return "";
    this.#open = undefined;
    return (
      this.#event({ type: "content_block_stop", index: open.index }) +
      this.#event({ type: "message_delta", delta: { stop_reason: stopReason } }) +
      this.#event({ type: "message_stop" })
    );
  }

  #event(event: object): string {
    return this.#write(toSafeJson(event));
  }
}

const textKind = (): Kind => ({ start: { type: "text", text: "" }, deltaType: "text_delta", field: "text" });
const thinkingKind = (): Kind => ({
  start: { type: "thinking", thinking: "", signature: "" },
  deltaType: "thinking_delta",
  field: "thinking",
});
const toolKind = (id: string, name: string): Kind => ({
  start: { type: "tool_use", id, name, input: {} },
  deltaType: "input_json_delta",
  field: "partial_json",
});
