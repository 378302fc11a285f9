import type { ImagePart, TextPart, UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import type { Piece } from "./turn-pieces.ts";

/** One part of the UI message stream of the AI SDK, as `useChat` reads it. */
export type UiPart = { readonly type: string; readonly [field: string]: unknown };

export const uiStreamHeaders: Readonly<Record<string, string>> = { "x-vercel-ai-ui-message-stream": "v1" };

/** What `useChat` sends: the whole conversation, of which the session has all but the last message. */
export function decodeUiRequest(body: unknown): { readonly chatId?: string; readonly message: UserMessage } {
  const { id, messages, trigger } = isRecord(body) ? body : {};
  if (trigger === "regenerate-message")
    throw new RuntimeError("usage", "An answer is not made again: its work is done. Send another message, or fork the session");
  const last = Array.isArray(messages)
    ? messages.findLast((message) => isRecord(message) && message["role"] === "user")
    : undefined;
  const parts = isRecord(last) && Array.isArray(last["parts"]) ? last["parts"] : [];
  const content = parts.flatMap(toPart);
  if (content.length === 0) throw new RuntimeError("usage", "messages must end with what the user says");
  return { ...(typeof id === "string" && { chatId: id }), message: { role: "user", content } };
}

function toPart(part: unknown): (TextPart | ImagePart)[] {
  if (!isRecord(part)) return [];
  if (part["type"] === "text" && typeof part["text"] === "string") return [{ type: "text", text: part["text"] }];
  if (part["type"] !== "file" || typeof part["url"] !== "string") return [];
  const [, mediaType, data] = /^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(part["url"]) ?? [];
  if (mediaType === undefined || data === undefined) throw new RuntimeError("usage", "A file must be an image as a data: URL");
  return [{ type: "image", mediaType, data }];
}

/** Tools are `dynamic`: the client knows none of them and runs none of them. */
export function toUiParts(piece: Piece): UiPart[] {
  switch (piece.type) {
    case "turn-start":
      return [{ type: "start", messageId: piece.turnId }, { type: "start-step" }];
    case "block-start":
    case "block-end":
      return [{ type: `${piece.kind}-${piece.type === "block-start" ? "start" : "end"}`, id: piece.id }];
    case "block-delta":
      return [{ type: `${piece.kind}-delta`, id: piece.id, delta: piece.text }];
    case "call":
      return [
        { type: "tool-input-available", toolCallId: piece.callId, toolName: piece.name, input: piece.input, dynamic: true },
      ];
    case "call-end": {
      const { callId: toolCallId, text, isError } = piece;
      if (isError) return [{ type: "tool-output-error", toolCallId, errorText: text, dynamic: true }];
      return [{ type: "tool-output-available", toolCallId, output: text, dynamic: true }];
    }
    case "asked":
    case "answer-end":
      return [];
    case "turn-end": {
      const { outcome } = piece;
      if (outcome.type === "cancelled") return [{ type: "finish-step" }, { type: "abort" }];
      if (outcome.type === "failed") return [{ type: "error", errorText: outcome.error.message }, { type: "finish" }];
      return [{ type: "finish-step" }, { type: "finish", finishReason: outcome.type === "completed" ? "stop" : "length" }];
    }
  }
}
