import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import { toPrompt } from "./openai-conversation.ts";
import type { Piece } from "./turn-pieces.ts";

export type AgUiRequest = { readonly threadId: string; readonly runId: string; toMessage(hasPast: boolean): UserMessage };

export function decodeAgUiRequest(body: unknown): AgUiRequest {
  const { threadId, runId, messages } = isRecord(body) ? body : {};
  if (typeof threadId !== "string" || typeof runId !== "string")
    throw new RuntimeError("usage", "threadId and runId are required");
  if (!Array.isArray(messages)) throw new RuntimeError("usage", "messages is required");
  return { threadId, runId, toMessage: (hasPast) => toPrompt(messages, hasPast) };
}

export type AgUiEvent = { readonly type: string; readonly [field: string]: unknown };

/** The events of one run. Tools are the agent's own: their results follow their calls. */
export class AgUiEvents {
  readonly #run: { readonly threadId: string; readonly runId: string };

  constructor({ threadId, runId }: AgUiRequest) {
    this.#run = { threadId, runId };
  }

  of(piece: Piece): AgUiEvent[] {
    switch (piece.type) {
      case "turn-start":
        return [{ type: "RUN_STARTED", ...this.#run }];
      case "block-start":
        return blockStart(piece);
      case "block-delta":
        return [
          {
            type: piece.kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT",
            messageId: piece.id,
            delta: piece.text,
          },
        ];
      case "block-end":
        return blockEnd(piece);
      case "call": {
        const { callId: toolCallId, name: toolCallName, input } = piece;
        return [
          { type: "TOOL_CALL_START", toolCallId, toolCallName },
          { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input) ?? "{}" },
          { type: "TOOL_CALL_END", toolCallId },
        ];
      }
      case "call-end": {
        const { callId: toolCallId, text: content } = piece;
        return [{ type: "TOOL_CALL_RESULT", messageId: `result-${toolCallId}`, toolCallId, content, role: "tool" }];
      }
      case "answer-end":
        return [];
      case "turn-end": {
        const { outcome } = piece;
        if (outcome.type === "failed") return [{ type: "RUN_ERROR", message: outcome.error.message, code: outcome.error.code }];
        return [{ type: "RUN_FINISHED", ...this.#run }];
      }
    }
  }
}

function blockStart({ kind, id: messageId }: { readonly kind: string; readonly id: string }): AgUiEvent[] {
  if (kind === "text") return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
  return [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
  ];
}

function blockEnd({ kind, id: messageId }: { readonly kind: string; readonly id: string }): AgUiEvent[] {
  if (kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId }];
  return [
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}
