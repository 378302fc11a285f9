import { finishOf, toCalls, toWords } from "../model/scripted.ts";
import { noUsage } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { ServerReply } from "./model-server.ts";
import type { StreamAnswer, StreamWire } from "./stream-wire.ts";

/** One scripted reply as OpenAI's Responses API would stream it. */
export const openAIResponsesStream: StreamWire = {
  id: "openai-responses",
  matches: (path) => path.endsWith("/responses"),
  encode,
  errorBody: (status, message, code) => ({
    error: { ...(code ? wireError(code) : errorOfStatus(status)), message, param: null },
  }),
};

function encode(reply: ServerReply, answer: StreamAnswer): string {
  const items = itemsOf(reply, answer.index);
  const response = responseOf(answer);
  const events: Event[] = [
    { type: "response.created", response: response("in_progress") },
    { type: "response.in_progress", response: response("in_progress") },
    ...items.flatMap(({ started, whole, steps }, output_index) => [
      { type: "response.output_item.added", output_index, item: started },
      ...steps.map((step) => ({ ...step, item_id: whole.id, output_index })),
      { type: "response.output_item.done", output_index, item: whole },
    ]),
  ];
  const output = items.map(({ whole }) => whole);
  if (reply.fail) events.push(failureOf(reply.fail, (error) => response("failed", { output, error })));
  else if (!reply.hang) events.push(endOf(reply, (status, facts) => response(status, { output, ...facts })));
  return events.map(encodeEvent).join("");
}

type Event = { readonly type: string; readonly [field: string]: unknown };

function encodeEvent(event: Event, sequence_number: number): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`;
}

type Facts = { output?: readonly object[]; error?: object; incomplete_details?: object; usage?: object };

/** What every event about the response as a whole repeats. */
function responseOf({ index, model }: StreamAnswer): (status: string, facts?: Facts) => object {
  return (status, facts = {}) => ({
    id: `resp_${index + 1}`,
    object: "response",
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    store: false,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: null,
    ...facts,
  });
}

/** An output item when it starts and when it is whole, and what is streamed in between. */
type Item = { started: object; whole: { readonly id: string; readonly [field: string]: unknown }; steps: readonly Event[] };

function itemsOf(reply: ServerReply, index: number): Item[] {
  const items: Item[] = [];
  const nextId = (prefix: string): string => `${prefix}_${index + 1}_${items.length + 1}`;
  if (reply.reasoning) items.push(reasoningItem(nextId("rs"), reply.reasoning));
  if (reply.text) items.push(messageItem(nextId("msg"), reply.text, finishOf(reply) === "refusal" ? "refusal" : "output_text"));
  for (const call of toCalls(reply, index)) items.push(callItem(nextId("fc"), call));
  return items;
}

function reasoningItem(id: string, text: string): Item {
  const item = { id, type: "reasoning" };
  const part = (text: string): object => ({ type: "summary_text", text });
  return {
    started: { ...item, summary: [] },
    whole: { ...item, summary: [part(text)], encrypted_content: `encrypted-${id}` },
    steps: [
      { type: "response.reasoning_summary_part.added", summary_index: 0, part: part("") },
      ...toWords(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", summary_index: 0, delta })),
      { type: "response.reasoning_summary_text.done", summary_index: 0, text },
      { type: "response.reasoning_summary_part.done", summary_index: 0, part: part(text) },
    ],
  };
}

function messageItem(id: string, text: string, kind: "output_text" | "refusal"): Item {
  const item = { id, type: "message", role: "assistant" };
  const logprobs = kind === "output_text" ? { logprobs: [] } : {};
  const field = kind === "output_text" ? "text" : "refusal";
  const part = (words: string): object =>
    kind === "output_text" ? { type: kind, text: words, annotations: [], logprobs: [] } : { type: kind, refusal: words };
  return {
    started: { ...item, status: "in_progress", content: [] },
    whole: { ...item, status: "completed", content: [part(text)] },
    steps: [
      { type: "response.content_part.added", content_index: 0, part: part("") },
      ...toWords(text).map((delta) => ({ type: `response.${kind}.delta`, content_index: 0, delta, ...logprobs })),
      { type: `response.${kind}.done`, content_index: 0, [field]: text, ...logprobs },
      { type: "response.content_part.done", content_index: 0, part: part(text) },
    ],
  };
}

function callItem(id: string, call: ReturnType<typeof toCalls>[number]): Item {
  const json = call.malformedInput ?? JSON.stringify(call.input);
  const middle = Math.ceil(json.length / 2);
  const item = { id, type: "function_call", call_id: call.callId, name: call.name };
  const pieces = [json.slice(0, middle), json.slice(middle)].filter((piece) => piece !== "");
  return {
    started: { ...item, status: "in_progress", arguments: "" },
    whole: { ...item, status: call.malformedInput === undefined ? "completed" : "incomplete", arguments: json },
    steps: [
      ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
      { type: "response.function_call_arguments.done", name: call.name, arguments: json },
    ],
  };
}

function endOf(reply: ServerReply, response: (status: string, facts: Facts) => object): Event {
  const usage = usageOf(reply);
  const reason = incompleteReasons[finishOf(reply)];
  if (reason === undefined) return { type: "response.completed", response: response("completed", { usage }) };
  return { type: "response.incomplete", response: response("incomplete", { usage, incomplete_details: { reason } }) };
}

/** Every other way to finish is a completed response on this wire. */
const incompleteReasons: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  "content-filter": "content_filter",
  "context-overflow": "unheard_of",
  paused: "unheard_of",
  other: "unheard_of",
};

function usageOf(reply: ServerReply): object {
  const usage = { ...noUsage, ...reply.usage };
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** The API ends a response that failed; what fails around it, like the account's limits, is an event of its own. */
function failureOf(fail: { code: ErrorCode; message: string }, response: (error: object) => object): Event {
  const { type, code } = wireError(fail.code);
  if (type === "server_error")
    return { type: "response.failed", response: response({ code: code ?? type, message: fail.message }) };
  return { type: "error", error: { type, code, message: fail.message, param: null } };
}

type ErrorWords = { type: string; code: string | null };

const serverError: ErrorWords = { type: "server_error", code: null };
const invalidRequest: ErrorWords = { type: "invalid_request_error", code: null };

/** OpenAI's own words for one of our codes. */
function wireError(code: ErrorCode): ErrorWords {
  return wireErrors[code] ?? serverError;
}

const wireErrors: Partial<Record<ErrorCode, ErrorWords>> = {
  "provider-bad-request": invalidRequest,
  "context-overflow": { ...invalidRequest, code: "context_length_exceeded" },
  "provider-auth": { ...invalidRequest, code: "invalid_api_key" },
  "not-found": { ...invalidRequest, code: "model_not_found" },
  "provider-rate-limit": { type: "tokens", code: "rate_limit_exceeded" },
  "provider-timeout": { ...serverError, code: "vector_store_timeout" },
  "provider-overloaded": { ...serverError, code: "server_is_overloaded" },
};

function errorOfStatus(status: number): ErrorWords {
  if (status === 401 || status === 403) return wireError("provider-auth");
  if (status === 429) return wireError("provider-rate-limit");
  return status < 500 ? invalidRequest : serverError;
}
