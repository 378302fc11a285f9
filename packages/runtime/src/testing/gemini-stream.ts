import { type FinishReason, type JsonObject, type JsonValue, noUsage } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import { finishOf, type ScriptedReply, toCalls, toWords } from "../model/scripted.ts";
import type { StreamWire } from "./stream-wire.ts";

/** Gemini's `streamGenerateContent?alt=sse`: every event is a whole response, and the body just ends after the last one. */
export const geminiStream: StreamWire = {
  id: "gemini",
  matches: (path) => path.endsWith(":streamGenerateContent"),
  encode: encodeReply,
  errorBody: (status, message, code) => ({
    error: code ? wireError(code, message, status) : { code: status, message, status: statusNameOf(status) },
  }),
};

/** What stands where Gemini's servers sign a thought. */
export const scriptedSignature = "c2NyaXB0ZWQtc2lnbmF0dXJl";

function encodeReply(reply: ScriptedReply, answer: { index: number; model: string }): string {
  const chunk = (candidate: JsonObject, usage: JsonObject = {}): string =>
    encodeEvent({
      candidates: [{ ...candidate, index: 0 }],
      usageMetadata: { ...promptUsage(reply), ...usage },
      modelVersion: answer.model,
      responseId: `response_${answer.index + 1}`,
    });
  const pieces = piecesOf(reply, answer.index).map((parts) => chunk({ content: { parts, role: "model" } }));
  if (reply.hang) return pieces.join("");
  if (reply.fail) return pieces.join("") + encodeEvent({ error: wireError(reply.fail.code, reply.fail.message) });
  // A thought is signed where the answer acts on it: at its first call, or else at its end.
  const end = { text: "", ...(reply.reasoning && !reply.calls?.length && { thoughtSignature: scriptedSignature }) };
  const last = { content: { parts: [end], role: "model" }, finishReason: finishReasons[finishOf(reply)] };
  return pieces.join("") + chunk(last, answerUsage(reply));
}

/** The parts of each chunk: words one by one, calls together. */
function piecesOf(reply: ScriptedReply, index: number): JsonObject[][] {
  const thoughts = toWords(reply.reasoning ?? "").map((text) => [{ text, thought: true }]);
  const words = toWords(reply.text ?? "").map((text) => [{ text }]);
  const calls = toCalls(reply, index).map(({ callId, name, input, malformedInput }, position) => ({
    // Gemini's servers never send broken arguments, they refuse them; a script that wants some gets a text for an object.
    functionCall: { id: callId, name, args: malformedInput ?? (input as JsonValue) }, // a script's input is JSON
    ...(position === 0 && reply.reasoning && { thoughtSignature: scriptedSignature }),
  }));
  return [...thoughts, ...words, ...(calls.length > 0 ? [calls] : [])];
}

/** Counts that are 0 are left out, as Google's servers do. */
function promptUsage(reply: ScriptedReply): JsonObject {
  const { inputTokens, cacheReadTokens } = { ...noUsage, ...reply.usage };
  return {
    ...(inputTokens > 0 && { promptTokenCount: inputTokens, totalTokenCount: inputTokens }),
    ...(cacheReadTokens > 0 && { cachedContentTokenCount: cacheReadTokens }),
  };
}

function answerUsage(reply: ScriptedReply): JsonObject {
  const { inputTokens, outputTokens, reasoningTokens } = { ...noUsage, ...reply.usage };
  return {
    ...(outputTokens > reasoningTokens && { candidatesTokenCount: outputTokens - reasoningTokens }),
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    ...(inputTokens + outputTokens > 0 && { totalTokenCount: inputTokens + outputTokens }),
  };
}

function encodeEvent(payload: JsonObject): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function wireError(code: ErrorCode, message: string, status?: number): JsonObject {
  const known = wireErrors[code] ?? { status: 500, name: "INTERNAL" };
  const words =
    code === "context-overflow" ? `The input token count exceeds the maximum number of tokens allowed: ${message}` : message;
  return { code: status ?? known.status, message: words, status: known.name };
}

function statusNameOf(status: number): string {
  const known = Object.values(wireErrors).find((error) => error.status === status);
  return known?.name ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}

const wireErrors: Partial<Record<ErrorCode, { status: number; name: string }>> = {
  "provider-bad-request": { status: 400, name: "INVALID_ARGUMENT" },
  "context-overflow": { status: 400, name: "INVALID_ARGUMENT" },
  "provider-auth": { status: 401, name: "UNAUTHENTICATED" },
  "not-found": { status: 404, name: "NOT_FOUND" },
  "provider-rate-limit": { status: 429, name: "RESOURCE_EXHAUSTED" },
  "provider-unavailable": { status: 500, name: "INTERNAL" },
  "provider-overloaded": { status: 503, name: "UNAVAILABLE" },
  "provider-timeout": { status: 504, name: "DEADLINE_EXCEEDED" },
};

const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  "stop-sequence": "STOP",
  length: "MAX_TOKENS",
  "tool-calls": "STOP",
  paused: "OTHER",
  refusal: "PROHIBITED_CONTENT",
  "content-filter": "SAFETY",
  "context-overflow": "OTHER",
  interrupted: "OTHER",
  other: "OTHER",
};
