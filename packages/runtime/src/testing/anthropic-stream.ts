import { type FinishReason, noUsage } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import { finishOf, type ScriptedReply, toCalls, toWords } from "../model/scripted.ts";

/** The bytes of one scripted reply as Anthropic's servers would stream them; each piece is one server-sent event. */
export function encodeReply(reply: ScriptedReply, answer: { index: number; model: string }): string {
  return encodeStart(reply, answer) + encodeRest(reply, answer.index);
}

/** The only event that depends on the request. */
export function encodeStart(reply: ScriptedReply, { index, model }: { index: number; model: string }): string {
  const usage = { ...noUsage, ...reply.usage };
  return encodeEvent({
    type: "message_start",
    message: {
      id: `msg_${index + 1}`,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
        cache_read_input_tokens: usage.cacheReadTokens,
        cache_creation_input_tokens: usage.cacheWriteTokens,
        output_tokens: 1,
      },
    },
  });
}

/** Everything after `message_start`: blocks, then the end; without an end when the reply hangs, with an error when it fails. */
export function encodeRest(reply: ScriptedReply, index: number): string {
  const blocks = blocksOf(reply, index);
  const pieces = blocks.flatMap((block, position) => [
    encodeEvent({ type: "content_block_start", index: position, content_block: block.start }),
    ...block.deltas.map((delta) => encodeEvent({ type: "content_block_delta", index: position, delta })),
    encodeEvent({ type: "content_block_stop", index: position }),
  ]);
  if (reply.hang) return pieces.join("");
  if (reply.fail) return pieces.join("") + encodeEvent({ type: "error", error: wireError(reply.fail.code, reply.fail.message) });
  pieces.push(
    encodeEvent({
      type: "message_delta",
      delta: { stop_reason: stopReasons[finishOf(reply)], stop_sequence: null },
      usage: { output_tokens: reply.usage?.outputTokens ?? 0 },
    }),
    encodeEvent({ type: "message_stop" }),
  );
  return pieces.join("");
}

function encodeEvent(payload: { type: string; [field: string]: unknown }): string {
  return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
}

/** Anthropic's own words for one of our codes. */
export function wireError(code: ErrorCode, message: string): { type: string; message: string } {
  if (code === "context-overflow") return { type: "invalid_request_error", message: `prompt is too long: ${message}` };
  return { type: wireErrors[code]?.type ?? "api_error", message };
}

export function wireStatus(code: ErrorCode): number {
  return wireErrors[code]?.status ?? 500;
}

/** The error type that goes with an HTTP status. */
export function errorTypeOf(status: number): string {
  return (
    Object.values(wireErrors).find((error) => error.status === status)?.type ??
    (status < 500 ? "invalid_request_error" : "api_error")
  );
}

type Block = { start: Record<string, unknown>; deltas: Record<string, unknown>[] };

function blocksOf(reply: ScriptedReply, index: number): Block[] {
  const blocks: Block[] = [];
  if (reply.reasoning) {
    const thoughts = toWords(reply.reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
    const signature = { type: "signature_delta", signature: "scripted-signature" };
    blocks.push({ start: { type: "thinking", thinking: "", signature: "" }, deltas: [...thoughts, signature] });
  }
  if (reply.text) {
    const deltas = toWords(reply.text).map((text) => ({ type: "text_delta", text }));
    blocks.push({ start: { type: "text", text: "" }, deltas });
  }
  for (const call of toCalls(reply, index)) {
    const json = call.malformedInput ?? JSON.stringify(call.input);
    const middle = Math.ceil(json.length / 2);
    const deltas = ["", json.slice(0, middle), json.slice(middle)].map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    blocks.push({ start: { type: "tool_use", id: call.callId, name: call.name, input: {} }, deltas });
  }
  return blocks;
}

const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  "stop-sequence": "stop_sequence",
  length: "max_tokens",
  "tool-calls": "tool_use",
  paused: "pause_turn",
  refusal: "refusal",
  "content-filter": "refusal",
  "context-overflow": "model_context_window_exceeded",
  interrupted: "end_turn",
  other: "unheard_of",
};

const wireErrors: Partial<Record<ErrorCode, { status: number; type: string }>> = {
  "provider-bad-request": { status: 400, type: "invalid_request_error" },
  "context-overflow": { status: 400, type: "invalid_request_error" },
  "provider-auth": { status: 401, type: "authentication_error" },
  "not-found": { status: 404, type: "not_found_error" },
  "provider-rate-limit": { status: 429, type: "rate_limit_error" },
  "provider-unavailable": { status: 500, type: "api_error" },
  "provider-timeout": { status: 504, type: "timeout_error" },
  "provider-overloaded": { status: 529, type: "overloaded_error" },
};
