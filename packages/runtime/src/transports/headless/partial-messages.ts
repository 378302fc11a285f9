import type { AgentEvent } from "../../protocol/events.ts";

type Open = { messageId: string; index: number; block: string | undefined };

/**
 * Rebuilds the Messages API's own event sequence from deltas: message_start, one start/delta/stop per block, message_stop.
 * An attempt that is given up is closed the same way, so that a reader's state never leaks into the next one.
 */
export class PartialMessages {
  readonly #write: (event: unknown) => string;
  #open: Open | undefined;

  constructor(write: (event: unknown) => string) {
    this.#write = write;
  }

  /** Deltas go out before anything else of their event. */
  before(event: AgentEvent): string {
    switch (event.type) {
      case "text.delta":
        return this.#delta(event.messageId, {
          key: "text",
          start: { type: "text", text: "" },
          delta: { type: "text_delta", text: event.text },
        });
      case "reasoning.delta":
        return this.#delta(event.messageId, {
          key: "thinking",
          start: { type: "thinking", thinking: "", signature: "" },
          delta: { type: "thinking_delta", thinking: event.text },
        });
      case "tool-input.delta":
        return this.#delta(event.messageId, {
          key: event.callId,
          start: { type: "tool_use", id: event.callId, name: event.name, input: {} },
          delta: { type: "input_json_delta", partial_json: event.json },
        });
      case "retry.scheduled":
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

  #delta(messageId: string, part: { key: string; start: unknown; delta: unknown }): string {
    let text = "";
    if (!this.#open) {
      this.#open = { messageId, index: -1, block: undefined };
      text += this.#write({ type: "message_start", message: { id: messageId, type: "message", role: "assistant", content: [] } });
    }
    const open = this.#open;
    if (open.block !== part.key) {
      if (open.block !== undefined) text += this.#write({ type: "content_block_stop", index: open.index });
      open.index++;
      open.block = part.key;
      text += this.#write({ type: "content_block_start", index: open.index, content_block: part.start });
    }
    return text + this.#write({ type: "content_block_delta", index: open.index, delta: part.delta });
  }

  #close(stopReason: string | null): string {
    const open = this.#open;
    if (!open) return "";
    this.#open = undefined;
    return (
      this.#write({ type: "content_block_stop", index: open.index }) +
      this.#write({ type: "message_delta", delta: { stop_reason: stopReason } }) +
      this.#write({ type: "message_stop" })
    );
  }
}
