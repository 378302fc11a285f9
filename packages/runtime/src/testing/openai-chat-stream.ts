import { finishOf, toCalls, toWords } from "../model/scripted.ts";
import { type FinishReason, noUsage } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { RecordedRequest, ServerReply } from "./model-server.ts";
import type { StreamAnswer, StreamWire } from "./stream-wire.ts";

/** One scripted reply as a server of OpenAI's Chat Completions would stream it. */
export const openAIChatStream: StreamWire = {
  id: "openai-chat",
  matches: (path) => path.endsWith("/chat/completions"),
  encode,
  errorBody: (status, message, code) => ({ error: wireError(message, code ? wireErrors[code] : errorOfStatus(status)) }),
};

function encode(reply: ServerReply, answer: StreamAnswer): string {
  const withUsage = wantsUsage(answer.request);
  const encodeChunk = chunkEncoder(answer, withUsage);
  let body = encodeChunk({ role: "assistant", content: "" });
  for (const reasoning_content of toWords(reply.reasoning ?? "")) body += encodeChunk({ reasoning_content });
  const said = reply.finish === "refusal" ? "refusal" : "content";
  for (const word of toWords(reply.text ?? "")) body += encodeChunk({ [said]: word });
  toCalls(reply, answer.index).forEach((call, index) => {
    const json = call.malformedInput ?? JSON.stringify(call.input);
    const middle = Math.ceil(json.length / 2);
    const head = { index, id: call.callId, type: "function", function: { name: call.name, arguments: "" } };
    body += encodeChunk({ tool_calls: [head] });
    for (const piece of [json.slice(0, middle), json.slice(middle)]) {
      if (piece) body += encodeChunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  });
  if (reply.hang) return body;
  if (reply.fail) return body + encodeEvent({ error: wireError(reply.fail.message, wireErrors[reply.fail.code]) });
  body += encodeChunk({}, finishReasons[finishOf(reply)]);
  if (withUsage) body += encodeEvent({ ...headOf(answer), choices: [], usage: usageOf(reply) });
  return `${body}data: [DONE]\n\n`;
}

/** What all chunks share is encoded once: a reply of many thousand words stays cheap. */
function chunkEncoder(answer: StreamAnswer, withUsage: boolean): (delta: object, finish?: string) => string {
  const head = `data: ${JSON.stringify(headOf(answer)).slice(0, -1)},"choices":[{"index":0,"delta":`;
  const tail = withUsage ? '}],"usage":null}\n\n' : "}]}\n\n";
  return (delta, finish) =>
    `${head}${JSON.stringify(delta)},"logprobs":null,"finish_reason":${finish ? JSON.stringify(finish) : "null"}${tail}`;
}

function headOf({ index, model }: StreamAnswer): object {
  return { id: `chatcmpl-${index + 1}`, object: "chat.completion.chunk", created: 1_700_000_000, model };
}

function encodeEvent(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

/** Servers of this wire count only for those who ask. */
function wantsUsage({ body }: RecordedRequest): boolean {
  if (typeof body !== "object" || body === null || !("stream_options" in body)) return false;
  const options = body.stream_options;
  return typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true;
}

function usageOf(reply: ServerReply): object {
  const usage = { ...noUsage, ...reply.usage };
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  paused: "unheard_of",
  refusal: "stop",
  "content-filter": "content_filter",
  "context-overflow": "model_context_window_exceeded",
  interrupted: "stop",
  other: "unheard_of",
};

type ErrorWords = { type: string; code: string | null };

function wireError(message: string, { type, code }: ErrorWords = serverError): object {
  return { message, type, param: null, code };
}

const serverError: ErrorWords = { type: "server_error", code: null };
const invalidRequest: ErrorWords = { type: "invalid_request_error", code: null };

const wireErrors: Partial<Record<ErrorCode, ErrorWords>> = {
  "provider-bad-request": invalidRequest,
  "context-overflow": { ...invalidRequest, code: "context_length_exceeded" },
  "provider-auth": { ...invalidRequest, code: "invalid_api_key" },
  "not-found": { ...invalidRequest, code: "model_not_found" },
  "provider-rate-limit": { type: "requests", code: "rate_limit_exceeded" },
  "provider-timeout": { type: "timeout", code: null },
  "provider-overloaded": { ...serverError, code: "overloaded" },
};

function errorOfStatus(status: number): ErrorWords {
  if (status === 401 || status === 403) return { ...invalidRequest, code: "invalid_api_key" };
  if (status === 429) return { type: "requests", code: "rate_limit_exceeded" };
  return status < 500 ? invalidRequest : serverError;
}
