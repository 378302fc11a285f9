import type { UserMessage, Usage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import { toPrompt } from "./openai-conversation.ts";
import type { Piece } from "./turn-pieces.ts";

export type ChatRequest = {
  readonly model: string;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  toMessage(hasPast: boolean): UserMessage;
};

export function decodeChatRequest(body: unknown): ChatRequest {
  const given = isRecord(body) ? body : {};
  const { model, messages, stream, stream_options: options } = given;
  if (!Array.isArray(messages)) throw new RuntimeError("usage", "messages is required");
  if (typeof model !== "string") throw new RuntimeError("usage", "model is required");
  refuseImpossible(given, given["response_format"]);
  return {
    model,
    isStream: stream === true,
    wantsUsage: isRecord(options) && options["include_usage"] === true,
    toMessage: (hasPast) => toPrompt(messages, hasPast),
  };
}

type Head = { readonly id: string; readonly model: string; readonly created: number };

/** The chunks of a streamed completion. Work with tools is shown as reasoning: there is nothing for the client to run. */
export class ChatChunks {
  readonly #head: Head;
  readonly #wantsUsage: boolean;

  constructor(head: Head, wantsUsage: boolean) {
    this.#head = head;
    this.#wantsUsage = wantsUsage;
  }

  of(piece: Piece): object[] {
    switch (piece.type) {
      case "turn-start":
        return [this.#chunk({ role: "assistant", content: "" })];
      case "block-delta":
        return [this.#chunk(piece.kind === "text" ? { content: piece.text } : { reasoning_content: piece.text })];
      case "call":
        return [this.#chunk({ reasoning_content: callLine(piece) })];
      case "turn-end": {
        const { outcome, usage } = piece;
        if (outcome.type === "failed")
          return [{ error: { message: outcome.error.message, code: outcome.error.code, type: "api_error" } }];
        const { id, model, created } = this.#head;
        const last = { id, object: "chat.completion.chunk", created, model, choices: [], usage: toChatUsage(usage) };
        return [this.#chunk({}, finishOf(outcome)), ...(this.#wantsUsage ? [last] : [])];
      }
      default:
        return [];
    }
  }

  #chunk(delta: object, finish: string | null = null): object {
    const { id, model, created } = this.#head;
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return { id, object: "chat.completion.chunk", created, model, choices, ...(this.#wantsUsage && { usage: null }) };
  }
}

/** The same in one. */
export function toCompletion({ id, model, created }: Head, pieces: readonly Piece[]): object {
  const end = pieces.findLast((piece) => piece.type === "turn-end");
  if (end?.type !== "turn-end") throw new RuntimeError("closed", "The session was closed before the turn had ended");
  if (end.outcome.type === "failed") throw new RuntimeError(end.outcome.error.code, end.outcome.error.message);
  const thoughts = pieces.flatMap((piece) => {
    if (piece.type === "call") return [callLine(piece)];
    return piece.type === "block-delta" && piece.kind === "reasoning" ? [piece.text] : [];
  });
  const message = {
    role: "assistant",
    content: end.outcome.text,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("") }),
  };
  const choices = [{ index: 0, message: { ...message, refusal: null }, finish_reason: finishOf(end.outcome), logprobs: null }];
  return { id, object: "chat.completion", created, model, choices, usage: toChatUsage(end.usage) };
}

/** A line for people, which no client takes for a call. */
export function callLine({ name, input }: { readonly name: string; readonly input: unknown }): string {
  const words = JSON.stringify(input) ?? "";
  return `\n[${name} ${words.length > 200 ? `${words.slice(0, 199)}…` : words}]\n`;
}

/** What the client would rely on and not get. What only shapes how the model answers is passed over. */
export function refuseImpossible({ tools, functions, n }: Readonly<Record<string, unknown>>, format: unknown): void {
  if ([tools, functions].some((list) => Array.isArray(list) && list.length > 0))
    throw new RuntimeError("usage", "tools cannot be given: the agent has its own, and runs them itself");
  if (n !== undefined && n !== null && n !== 1) throw new RuntimeError("usage", "n is 1: an agent does its work once");
  if (isRecord(format) && format["type"] !== "text")
    throw new RuntimeError(
      "usage",
      "Answers are text: a session with an outputSchema (POST /v1/sessions) answers as a schema wants",
    );
}

/** An answer that was cut short is told as such: by a limit, or by somebody who ended it. */
function finishOf({ type }: { readonly type: string }): string {
  return type === "completed" ? "stop" : "length";
}

function toChatUsage({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: Usage): object {
  return {
    ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
