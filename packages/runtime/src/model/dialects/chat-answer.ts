import {
  type AssistantMessage,
  type AssistantPart,
  type FinishReason,
  type JsonObject,
  type JsonValue,
  type Usage,
  isJsonObject,
} from "../../protocol/content.ts";
import { CallNames } from "./call-names.ts";
import type { Decoder } from "../dialect.ts";
import { InlineMarkup, type MarkupPiece } from "./inline-markup.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { type StreamedCall, StreamedCalls, isWholeJson } from "./streamed-calls.ts";
import { type Wire, dialectId } from "./chat-wire.ts";
import { addReasoningDetail } from "./reasoning-details.ts";
import { defined } from "../../util/defined.ts";
import { excerpt } from "../http-error.ts";
import { listIn, numberIn, objectIn, parseJson, stringIn } from "./json-fields.ts";
import { openAIStreamError } from "./openai-errors.ts";

type CallBlock = {
  readonly type: "call";
  readonly call: StreamedCall;
  /** Given when the name is known: a call is not told of before. */
  callId: string | undefined;
  extra: JsonValue | undefined;
};
type Block = { type: "text" | "reasoning"; text: string } | CallBlock;
type Asked = { readonly request: ModelRequest; readonly provider: string; readonly wire: Wire };

export function createDecoder(asked: Asked): Decoder {
  const answer = new Answer(asked);
  return { push: (payload) => answer.push(payload), end: () => answer.end() };
}

class Answer {
  readonly #asked: Asked;
  readonly #markup: InlineMarkup | undefined;
  readonly #usage = { input: 0, output: 0, total: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  readonly #calls = new StreamedCalls();
  readonly #reasoningDetails: JsonObject[] = [];
  #blocks: Block[] = [];
  #callNames: CallNames | undefined;
  #responseId: string | undefined;
  #model: string;
  #reason: string | undefined;
  #stopSequence: string | undefined;
  #refused = false;
  #finished = false;

  constructor(asked: Asked) {
    this.#asked = asked;
    this.#model = asked.request.model;
    if (asked.wire.projectThinkTags) this.#markup = new InlineMarkup(asked.request.tools);
  }

  push({ event, data }: { event: string | undefined; data: string }): ModelEvent[] {
    const text = data.trim();
    if (this.#finished || text === "") return [];
    if (text === "[DONE]") return this.#finish();
    const payload = parseJson(text);
    if (!isJsonObject(payload)) throw this.#broken(`is no JSON object: ${excerpt(data)}`);
    const error = payload["error"] ?? (event === "error" || payload["object"] === "error" ? payload : undefined);
    if (error) throw openAIStreamError(error, this.#asked.provider);
    this.#note(payload);
    const choice = listIn(payload, "choices").find((each) => isJsonObject(each) && (each["index"] ?? 0) === 0);
    return isJsonObject(choice) ? this.#fold(choice) : []; // no choice: usage, or a content filter's report
  }

  /** A finish reason says that the model was done, whether or not the server closes with `[DONE]`. */
  end(): ModelEvent[] {
    return this.#finished || this.#reason === undefined ? [] : this.#finish();
  }

  #note(payload: JsonObject): void {
    this.#responseId ??= stringIn(payload, "id") || undefined;
    this.#model = stringIn(payload, "model") || this.#model;
    this.#count(payload["usage"] ?? objectIn(payload, "x_groq")["usage"]);
  }

  #fold(choice: JsonObject): ModelEvent[] {
    // Some servers end with the whole message again; it is only news when nothing came before.
    const delta = choice["delta"] ?? (this.#blocks.length === 0 ? choice["message"] : undefined);
    const events = isJsonObject(delta) ? this.#addDelta(delta) : [];
    this.#count(choice["usage"]);
    const reason = stringIn(choice, "finish_reason");
    if (reason) this.#close(reason, choice["stop_reason"]);
    return events;
  }

  #addDelta(delta: JsonObject): ModelEvent[] {
    const details = listIn(delta, "reasoning_details").filter(isJsonObject);
    for (const detail of details) addReasoningDetail(this.#reasoningDetails, detail);
    const reasoning = stringIn(delta, "reasoning_content") || stringIn(delta, "reasoning") || details.map(wordsOf).join("");
    const refusal = stringIn(delta, "refusal");
    if (refusal) this.#refused = true;
    const { function_call } = delta; // the old form, for one call
    const calls: JsonValue[] = isJsonObject(function_call)
      ? [{ index: 0, function: function_call }]
      : listIn(delta, "tool_calls");
    return [
      ...this.#add("reasoning", reasoning),
      ...this.#addContent(delta["content"]),
      ...this.#add("text", refusal),
      ...calls.filter(isJsonObject).flatMap((piece) => this.#addCallPiece(piece)),
    ];
  }

  /** A string at nearly everybody's; at a few, parts of it. */
  #addContent(content: JsonValue | undefined): ModelEvent[] {
    if (typeof content === "string") return this.#addText(content);
    if (!Array.isArray(content)) return [];
    return content.filter(isJsonObject).flatMap((part) => {
      if (part["type"] === "text") return this.#addText(stringIn(part, "text"));
      if (part["type"] !== "thinking") return [];
      const { thinking } = part;
      return this.#add(
        "reasoning",
        Array.isArray(thinking) ? thinking.filter(isJsonObject).map(wordsOf).join("") : wordsOf(part),
      );
    });
  }

  #addText(text: string): ModelEvent[] {
    if (!this.#markup) return this.#add("text", text);
    return this.#markup.push(text).flatMap((piece) => this.#addMarkup(piece));
  }

  #addMarkup(piece: MarkupPiece): ModelEvent[] {
    switch (piece.type) {
      case "text":
      case "reasoning":
        return this.#add(piece.type, piece.text);
      case "was-reasoning":
        // Too late for the deltas, but the message is right.
        this.#blocks = this.#blocks.map((block) => (block.type === "text" ? { ...block, type: "reasoning" } : block));
        return [];
      case "call": {
        const json = piece.malformedInput ?? JSON.stringify(piece.input);
        return this.#tellCall(this.#addCall({ wireId: "", name: piece.name, json }), { json, extra: undefined });
      }
    }
  }

  #add(type: "text" | "reasoning", text: string): ModelEvent[] {
    if (!text) return [];
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.text += text;
    else this.#blocks.push({ type, text });
    return [{ type: `${type}.delta`, text }];
  }

  #addCallPiece(piece: JsonObject): ModelEvent[] {
    const { index } = piece;
    const called = objectIn(piece, "function");
    const json = toJsonText(called["arguments"]);
    const call = this.#calls.add({
      index: typeof index === "number" ? index : undefined,
      id: stringIn(piece, "id"),
      name: stringIn(called, "name"),
      json,
    });
    const block = this.#blocks.find((each): each is CallBlock => each.type === "call" && each.call === call);
    return this.#tellCall(block ?? this.#addCall(call), { json, extra: piece["extra_content"] });
  }

  #addCall(call: StreamedCall): CallBlock {
    const block: CallBlock = { type: "call", call, callId: undefined, extra: undefined };
    this.#blocks.push(block);
    return block;
  }

  #tellCall(block: CallBlock, added: { json: string; extra: JsonValue | undefined }): ModelEvent[] {
    const { wireId, name } = block.call;
    block.extra ??= added.extra;
    if (!name) return [];
    const json = block.callId === undefined ? block.call.json : added.json;
    block.callId ??= this.#uniqueId(wireId);
    return json ? [{ type: "tool-input.delta", callId: block.callId, name, json }] : [];
  }

  #uniqueId(id: string): string {
    const { messages } = this.#asked.request;
    this.#callNames ??= new CallNames(messages);
    const calls = this.#blocks.filter(({ type }) => type === "call").length;
    return this.#callNames.take(id, `call_${this.#responseId ?? messages.length}_${calls}`);
  }

  #close(reason: string, matched: JsonValue | undefined): void {
    const failure = failures[reason];
    if (failure) throw openAIStreamError({ code: failure, message: `it ended with "${reason}"` }, this.#asked.provider);
    this.#reason = reason;
    if (typeof matched === "string" && this.#asked.request.stopSequences?.includes(matched)) this.#stopSequence = matched;
  }

  /** Counts are running totals: a later one replaces the earlier. */
  #count(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    const prompt = objectIn(usage, "prompt_tokens_details");
    const completion = objectIn(usage, "completion_tokens_details");
    const counts = this.#usage;
    counts.input = numberIn(usage, "prompt_tokens") ?? counts.input;
    counts.output = numberIn(usage, "completion_tokens") ?? counts.output;
    counts.total = numberIn(usage, "total_tokens") ?? counts.total;
    counts.cacheRead = numberIn(prompt, "cached_tokens") ?? numberIn(usage, "prompt_cache_hit_tokens") ?? counts.cacheRead;
    counts.cacheWrite = numberIn(prompt, "cache_write_tokens") ?? counts.cacheWrite;
    counts.reasoning = numberIn(completion, "reasoning_tokens") ?? counts.reasoning;
  }

  #finish(): ModelEvent[] {
    const events = (this.#markup?.end() ?? []).flatMap((piece) => this.#addMarkup(piece));
    if (this.#reason === undefined && !this.#isWhole()) {
      throw new RuntimeError("provider-unavailable", `${this.#asked.provider} ended its answer before the answer was whole`, {
        retryable: true,
      });
    }
    this.#finished = true;
    return [...events, { type: "finished", message: this.#toMessage() }];
  }

  /** `[DONE]` without a finish reason: whole when there is anything, and no call is cut. */
  #isWhole(): boolean {
    return this.#blocks.length > 0 && this.#blocks.every((block) => block.type !== "call" || isWholeOrEmpty(block.call));
  }

  #toMessage(): AssistantMessage {
    const finish = this.#toFinish();
    const last = this.#blocks.at(-1);
    return {
      role: "assistant",
      content: this.#withDetails(this.#blocks.flatMap((block) => toParts(block, finish === "length" && block === last))),
      model: { provider: this.#asked.provider, id: this.#model },
      finish,
      ...defined({ stopReason: this.#reason, stopSequence: this.#stopSequence }),
      usage: toUsage(this.#usage),
      ...defined({ responseId: this.#responseId }),
    };
  }

  /** Whatever the server says: text that was refused is no answer, and calls that were made want to be answered. */
  #toFinish(): FinishReason {
    if (this.#refused) return "refusal";
    const said = finishReasons[this.#reason ?? ""] ?? "other";
    const called = this.#blocks.some((block) => block.type === "call" && block.call.name !== "");
    if (called && (said === "stop" || said === "other")) return "tool-calls";
    if (!called && said === "tool-calls") return "stop";
    return said === "stop" && this.#stopSequence !== undefined ? "stop-sequence" : said;
  }

  /** Signed or hidden reasoning rides on the first part of reasoning, as it came. */
  #withDetails(parts: AssistantPart[]): AssistantPart[] {
    if (this.#reasoningDetails.length === 0) return parts;
    const index = parts.findIndex((part) => part.type === "reasoning");
    const first = index === -1 ? undefined : parts[index];
    const text = first?.type === "reasoning" ? first.text : "";
    const providerMetadata = { [dialectId]: { reasoning_details: this.#reasoningDetails } };
    return [{ type: "reasoning", text, providerMetadata }, ...parts.filter((part) => part !== first)];
  }

  #broken(what: string): RuntimeError {
    return new RuntimeError("provider-protocol", `A piece of ${this.#asked.provider}'s stream ${what}`, { retryable: true });
  }
}

function isWholeOrEmpty({ json }: StreamedCall): boolean {
  return json === "" || isWholeJson(json);
}

/** Some servers send the arguments as the object they are. */
function toJsonText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wordsOf(part: JsonObject): string {
  return stringIn(part, "text") || stringIn(part, "summary") || stringIn(part, "thinking");
}

/** `cut`: the output limit fell into this block, so that a call without a single argument byte is not a call without arguments. */
function toParts(block: Block, cut: boolean): AssistantPart[] {
  if (block.type !== "call") return [block];
  if (block.callId === undefined) return []; // never named, so nobody could answer it
  const providerMetadata = { [dialectId]: { extra_content: block.extra ?? null } };
  return [
    {
      type: "tool-call",
      callId: block.callId,
      name: block.call.name,
      ...toInput(block.call.json, cut),
      ...(block.extra !== undefined && { providerMetadata }),
    },
  ];
}

function toInput(json: string, cut: boolean): { input: JsonObject; malformedInput?: string } {
  if (!json.trim()) return cut ? { input: {}, malformedInput: "" } : { input: {} };
  const value = parseJson(json);
  const input = typeof value === "string" ? parseJson(value) : value; // encoded twice
  if (isJsonObject(input)) return { input };
  return input === null ? { input: {} } : { input: {}, malformedInput: json };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  length: "length",
  max_tokens: "length",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
  sensitive: "content-filter",
  refusal: "refusal",
  model_context_window_exceeded: "context-overflow",
};

/** Reasons that mean the server gave up, with the error they stand for. */
const failures: Readonly<Record<string, string>> = {
  error: "server_error",
  abort: "server_error",
  network_error: "server_error",
  insufficient_system_resource: "overloaded",
};

/** Some servers leave the reasoning out of the completion, but not out of the total. */
function toUsage(counts: {
  input: number;
  output: number;
  total: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}): Usage {
  return {
    inputTokens: counts.input,
    outputTokens: Math.max(counts.output, counts.total - counts.input),
    cacheReadTokens: counts.cacheRead,
    cacheWriteTokens: counts.cacheWrite,
    reasoningTokens: counts.reasoning,
  };
}
