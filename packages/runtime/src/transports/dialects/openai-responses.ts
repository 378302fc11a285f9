import type { UserMessage, Usage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { isRecord } from "../../util/is-record.ts";
import { callLine, refuseImpossible } from "./openai-chat.ts";
import { toPrompt } from "./openai-conversation.ts";
import type { BlockKind, Piece } from "./turn-pieces.ts";

export type ResponsesRequest = {
  readonly model: string;
  readonly isStream: boolean;
  /** The session of the response that this one follows, and its turn. */
  readonly sessionId?: string;
  readonly afterTurn?: string;
  toMessage(hasPast: boolean): UserMessage;
};

/** The id of a response names its session, so that the next one finds it. */
export function responseId(sessionId: string, turnId: string): string {
  return `resp_${sessionId}.${turnId}`;
}

export function decodeResponsesRequest(body: unknown): ResponsesRequest {
  const given = isRecord(body) ? body : {};
  const { model, input, stream, instructions, text, previous_response_id: previous } = given;
  if (typeof model !== "string") throw new RuntimeError("usage", "model is required");
  refuseImpossible(given, isRecord(text) ? text["format"] : undefined);
  refuseUnkept(given);
  const messages = typeof input === "string" ? [{ role: "user", content: input }] : input;
  if (!Array.isArray(messages)) throw new RuntimeError("usage", "input is required");
  const [, sessionId, afterTurn] = typeof previous === "string" ? (/^resp_([^.]+)\.(.+)$/s.exec(previous) ?? []) : [];
  if (previous !== undefined && previous !== null && sessionId === undefined)
    throw new RuntimeError("not-found", `There is no response ${JSON.stringify(previous)}`);
  return {
    model,
    isStream: stream === true,
    ...(sessionId !== undefined && { sessionId }),
    ...(afterTurn !== undefined && { afterTurn }),
    toMessage: (hasPast) => toPrompt(messages, hasPast, instructions),
  };
}

/** What the client would leave to a server that keeps it, and would miss. */
function refuseUnkept({ conversation, prompt, background }: Readonly<Record<string, unknown>>): void {
  if (conversation) throw new RuntimeError("usage", "There are no conversations: give previous_response_id");
  if (prompt) throw new RuntimeError("usage", "There are no stored prompts: give input and instructions");
  if (background === true)
    throw new RuntimeError("usage", "background cannot be given: POST /v1/sessions/{id}/messages goes on without its client");
}

type Head = { readonly id: string; readonly model: string; readonly created: number };
type Item = { readonly id: string; readonly kind: BlockKind; readonly index: number; text: string };

/** The events of a streamed response, numbered. Work with tools is a part of the reasoning. */
export class ResponseEvents {
  readonly #head: Head;
  readonly #done: object[] = [];
  #item: Item | undefined;
  #sequence = 0;

  constructor(head: Head) {
    this.#head = head;
  }

  of(piece: Piece): object[] {
    switch (piece.type) {
      case "turn-start":
        return [this.#event("response.created", { response: this.#response("in_progress") })];
      case "block-start":
        return this.#begin(piece.kind, piece.id);
      case "block-delta":
        return this.#say(piece.text);
      case "block-end":
        return this.#end();
      case "call": {
        const began = this.#begin("reasoning", `call-${piece.callId}`);
        return [...began, ...this.#say(callLine(piece)), ...this.#end()];
      }
      case "turn-end":
        return [this.#last(piece.outcome, piece.usage)];
      default:
        return [];
    }
  }

  #begin(kind: BlockKind, id: string): object[] {
    this.#item = { id: `item_${id}`, kind, index: this.#done.length, text: "" };
    const { index } = this.#item;
    const added = this.#event("response.output_item.added", {
      output_index: index,
      item: this.#shown(this.#item, "in_progress"),
    });
    if (kind === "reasoning") return [added];
    const part = { type: "output_text", text: "", annotations: [] };
    return [
      added,
      this.#event("response.content_part.added", { item_id: this.#item.id, output_index: index, content_index: 0, part }),
    ];
  }

  #say(delta: string): object[] {
    const item = this.#item;
    if (!item) return [];
    item.text += delta;
    const place = { item_id: item.id, output_index: item.index, content_index: 0 };
    if (item.kind === "reasoning") return [this.#event("response.reasoning_text.delta", { ...place, delta })];
    return [this.#event("response.output_text.delta", { ...place, delta, logprobs: [] })];
  }

  #end(): object[] {
    const item = this.#item;
    if (!item) return [];
    this.#item = undefined;
    const shown = this.#shown(item, "completed");
    this.#done.push(shown);
    const place = { item_id: item.id, output_index: item.index, content_index: 0 };
    const part = { type: "output_text", text: item.text, annotations: [] };
    const parts =
      item.kind === "reasoning"
        ? [this.#event("response.reasoning_text.done", { ...place, text: item.text })]
        : [
            this.#event("response.output_text.done", { ...place, text: item.text, logprobs: [] }),
            this.#event("response.content_part.done", { ...place, part }),
          ];
    return [...parts, this.#event("response.output_item.done", { output_index: item.index, item: shown })];
  }

  #shown({ id, kind, text }: Item, status: string): object {
    if (kind === "reasoning") return { id, type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }], status };
    const content = status === "completed" ? [{ type: "output_text", text, annotations: [] }] : [];
    return { id, type: "message", role: "assistant", status, content };
  }

  #last(outcome: Outcome, usage: Usage): object {
    const response = this.#response(statusOf(outcome), usage);
    if (outcome.type === "failed") {
      const { code, message } = outcome.error;
      return this.#event("response.failed", { response: { ...response, error: { code, message } } });
    }
    if (outcome.type === "completed") return this.#event("response.completed", { response });
    const reason = outcome.type === "stopped" ? outcome.limit : outcome.cause;
    return this.#event("response.incomplete", { response: { ...response, incomplete_details: { reason } } });
  }

  #response(status: string, usage?: Usage): object {
    const { id, model, created } = this.#head;
    return {
      ...{ id, object: "response", created_at: created, model, status, output: [...this.#done], error: null },
      ...{
        incomplete_details: null,
        instructions: null,
        metadata: {},
        parallel_tool_calls: true,
        tools: [],
        tool_choice: "auto",
      },
      ...(usage && { usage: toResponseUsage(usage) }),
    };
  }

  #event(type: string, body: object): object {
    return { type, sequence_number: this.#sequence++, ...body };
  }
}

function statusOf({ type }: Outcome): string {
  return type === "completed" ? "completed" : type === "failed" ? "failed" : type === "cancelled" ? "cancelled" : "incomplete";
}

function toResponseUsage({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: Usage): object {
  return {
    ...{ input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
