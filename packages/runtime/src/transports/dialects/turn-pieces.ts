import { callsOf, noUsage, textOf, type Usage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import { ownContent } from "../../protocol/own-content.ts";

/** What front ends show of a turn, in order. Blocks do not overlap: one is at its end before the next begins. */
export type Piece =
  | { readonly type: "turn-start"; readonly turnId: string }
  | { readonly type: "block-start"; readonly kind: BlockKind; readonly id: string }
  | { readonly type: "block-delta"; readonly kind: BlockKind; readonly id: string; readonly text: string }
  | { readonly type: "block-end"; readonly kind: BlockKind; readonly id: string }
  | { readonly type: "call"; readonly callId: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: "call-end";
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
    }
  /** Somebody has to allow a call of the turn, or of a subagent of it. */
  | { readonly type: "asked"; readonly requestId: string }
  /** An answer of the model is whole; calls follow it, or nothing. */
  | { readonly type: "answer-end" }
  | { readonly type: "turn-end"; readonly outcome: Outcome; readonly usage: Usage };

export type BlockKind = "text" | "reasoning";

/** Somebody took the prompt back before its turn. */
function neverBegun(cause: CancelCause): Piece[] {
  return [{ type: "turn-end", outcome: { type: "cancelled", cause, text: "" }, usage: noUsage }];
}

type Block = { readonly kind: BlockKind; readonly id: string };

/**
 * From the events of a session to the pieces of one of its turns. What was said before a provider failed cannot be taken back: what it says when it
 * is asked again is a block of its own. What subagents do is told by the calls that started them.
 */
export class TurnPieces {
  readonly #turnId: string;
  #block: Block | undefined;
  #blocks = 0;
  #said = new Set<BlockKind>();

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  of(event: AgentEvent): Piece[] {
    if (event.type === "prompt.cancelled" && event.promptId === this.#turnId) return neverBegun(event.cause);
    if (event.type === "permission.requested") return [{ type: "asked", requestId: event.requestId }];
    if (event.turnId !== this.#turnId || event.taskId !== undefined) return [];
    switch (event.type) {
      case "turn.started":
        return [{ type: "turn-start", turnId: this.#turnId }];
      case "text.delta":
        return this.#say("text", event.text);
      case "reasoning.delta":
        return this.#say("reasoning", event.text);
      case "retry.scheduled":
      case "fallback.used":
        this.#said.clear();
        return this.#endBlock();
      case "message.ended":
        return this.#endAnswer(event);
      case "tool.ended": {
        const { callId, name, status } = event;
        return [{ type: "call-end", callId, name, text: textOf(ownContent(event)), isError: status !== "ok" }];
      }
      case "turn.ended":
        return [...this.#endBlock(), { type: "turn-end", outcome: event.outcome, usage: event.usage }];
      default:
        return [];
    }
  }

  #say(kind: BlockKind, text: string): Piece[] {
    if (text === "") return [];
    this.#said.add(kind);
    const before = this.#block?.kind === kind ? [] : this.#endBlock();
    const isNew = this.#block === undefined;
    this.#block ??= { kind, id: `${this.#turnId}-${++this.#blocks}` };
    const { id } = this.#block;
    return [...before, ...(isNew ? [{ type: "block-start", kind, id } as const] : []), { type: "block-delta", kind, id, text }];
  }

  #endBlock(): Piece[] {
    const block = this.#block;
    this.#block = undefined;
    return block ? [{ type: "block-end", ...block }] : [];
  }

  /** An answer that came in one has no deltas. */
  #endAnswer({ message }: AgentEvent<"message.ended">): Piece[] {
    const thought = message.content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("\n\n");
    const unsaid = (kind: BlockKind, text: string): Piece[] => (this.#said.has(kind) ? [] : this.#say(kind, text));
    const pieces = [...unsaid("reasoning", thought), ...unsaid("text", textOf(message.content)), ...this.#endBlock()];
    this.#said.clear();
    const calls = callsOf(message).map(({ callId, name, input }) => ({ type: "call", callId, name, input }) as const);
    return [...pieces, { type: "answer-end" }, ...calls];
  }
}
