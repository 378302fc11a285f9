import { createHash } from "node:crypto";
import {
  type AssistantMessage,
  type AssistantPart,
  callsOf,
  type FinishReason,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type Message,
  type ReasoningPart,
  type TextPart,
  textOf,
  type ToolCallPart,
  type ToolDefinition,
  type ToolResultPart,
  type Usage,
  isJsonObject,
} from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Decoder, Dialect } from "../dialect.ts";
import { excerpt } from "../http-error.ts";
import type { Effort, ModelEvent, ModelRequest } from "../model.ts";
import { recordAt } from "../capabilities/chat.ts";
import { fitOutput, fitStops, fitTemperature, type Tell } from "../capabilities/fit.ts";
import type { ModelRecord } from "../capabilities/record.ts";
import { CallNames } from "./call-names.ts";
import { chatEffort, plainEffort } from "./chat-effort.ts";
import { InlineMarkup, type MarkupPiece } from "./inline-markup.ts";
import { listIn, numberIn, objectIn, parseJson, stringIn } from "./json-fields.ts";
import { openAIStreamError } from "./openai-errors.ts";
import { addReasoningDetail } from "./reasoning-details.ts";
import { isWholeJson, type StreamedCall, StreamedCalls } from "./streamed-calls.ts";
import { fitsStrictMode } from "./strict-schema.ts";
import { defined } from "../../util/defined.ts";
import { inWordsOf, pdfType } from "../../protocol/media.ts";

const dialectId = "openai-chat";

/** In what the servers of this wire differ. What is left out is as at OpenAI. */
export type OpenAIChatQuirks = {
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens";
  readonly systemRole?: "system" | "developer";
  /** Asks for token counts: without it most servers send none, and a few refuse the question. */
  readonly includeUsage?: boolean;
  /** Hands earlier reasoning back; some servers want it, others refuse it. */
  readonly sendReasoning?: boolean;
  /** The field it goes back in. Answers may use either. */
  readonly reasoningField?: "reasoning_content" | "reasoning";
  /** How an effort is asked for. The last three can only switch thinking on, or off for `minimal`. */
  readonly effort?: "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "chat_template_kwargs" | "none";
  /** The server's words for efforts, where they are not ours. */
  readonly effortWords?: Readonly<Partial<Record<Effort, string>>>;
  readonly parallelToolCalls?: boolean;
  /** False: images are told of, not shown. */
  readonly images?: boolean;
  /** False: an image in a tool's result follows as a user message. */
  readonly imagesInToolResults?: boolean;
  /** The server takes only ids of nine letters and digits. */
  readonly nineCharacterCallIds?: boolean;
  readonly nativeSchema?: boolean;
  /** The server does not take the model's text apart: reasoning between tags and tool calls written as text are found here. */
  readonly projectThinkTags?: boolean;
  /** The provider whose records of models say what a request may hold; without it nothing is known about any. */
  readonly recordsOf?: string;
  /** It is the maker's own API that answers: what its models do not take there is refused before it is sent. */
  readonly isMaker?: boolean;
};

type Optional = "parallelToolCalls" | "recordsOf" | "isMaker";
type Wire = Required<Omit<OpenAIChatQuirks, Optional>> & Pick<OpenAIChatQuirks, Optional> & { readonly pdf: boolean };

const defaults: Wire = {
  maxTokensField: "max_completion_tokens",
  systemRole: "system",
  includeUsage: true,
  sendReasoning: false,
  reasoningField: "reasoning_content",
  effort: "reasoning_effort",
  effortWords: {},
  images: true,
  imagesInToolResults: false,
  nineCharacterCallIds: false,
  nativeSchema: true,
  projectThinkTags: false,
  pdf: true,
};

/** The wire format of OpenAI's Chat Completions, streaming, as OpenAI and everybody else speaks it. */
export function createOpenAIChat(quirks: OpenAIChatQuirks = {}): Dialect {
  const plain: Wire = { ...defaults, ...quirks };
  const wires = new Map<string, Encoding>();
  const encodingFor = (request: ModelRequest): Encoding => {
    const record = plain.recordsOf === undefined ? undefined : recordAt(plain.recordsOf, request);
    const key = record ? `${record.images} ${record.pdf}` : "";
    const { wire, made } = wires.get(key) ?? {
      wire: record ? { ...plain, images: record.images, pdf: record.pdf } : plain,
      made: new WeakMap(),
    };
    const encoding = { wire, made, record };
    wires.set(key, encoding);
    return encoding;
  };
  return {
    id: dialectId,
    nativeSchema: plain.nativeSchema,
    encode: (request, tell = () => {}) => encode(request, encodingFor(request), tell),
    decoder: (request, provider) => createDecoder({ request, provider, wire: plain }),
  };
}

/** How requests for one kind of model are written. */
type Encoding = { readonly wire: Wire; readonly made: Made; readonly record: ModelRecord | undefined };

// ---------------------------------------------------------------------------------------------------- request

/** What was made of a message or a result: neither ever changes, and who writes the body relies on getting the same objects again. */
type Made = WeakMap<object, readonly JsonObject[]>;

function encode(request: ModelRequest, { wire, made, record }: Encoding, tell: Tell): JsonObject {
  const { tools, outputSchema } = request;
  const maxOutputTokens = fitOutput(request.maxOutputTokens, record, tell);
  const stops = fitStops(request, record, tell);
  const effort = record ? chatEffort(request, { record, wire, tell }) : plainEffort(request, wire);
  const thinks = record?.usualEffort ? effort["reasoning_effort"] !== "none" : Object.keys(effort).length > 0;
  const temperature = record ? fitTemperature(request, { record, thinks, tell }) : request.temperature;
  return {
    model: request.model,
    messages: toMessages(request, wire, made),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(tools.length > 0 && wire.parallelToolCalls !== undefined && { parallel_tool_calls: wire.parallelToolCalls }),
    ...(tools.length > 0 && record?.parallelCalls === false && { parallel_tool_calls: false }),
    ...(maxOutputTokens !== undefined && { [wire.maxTokensField]: maxOutputTokens }),
    ...defined({ temperature }),
    ...(stops.length > 0 && { stop: stops }),
    ...(outputSchema && wire.nativeSchema && { response_format: toResponseFormat(outputSchema) }),
    ...effort,
    ...(wire.includeUsage && { stream_options: { include_usage: true } }),
    ...request.options,
    stream: true,
  };
}

/** Every call is answered right after it, and nothing is answered that was not called. */
function toMessages({ system, messages }: ModelRequest, wire: Wire, made: Made): JsonObject[] {
  const list: JsonObject[] = system.trim() ? [{ role: wire.systemRole, content: system }] : [];
  messages.forEach((message, index) => {
    if (message.role === "user") addUserParts(list, message.content.flatMap(toContentParts(wire)));
    if (message.role !== "assistant") return;
    list.push(...remembered(made, message, () => toAssistant(message, wire)));
    const results = resultsAfter(messages, index);
    const answered = callsOf(message).map((call) => results.get(call.callId) ?? noResult(call));
    for (const result of answered) list.push(...remembered(made, result, () => [withPlainText(toToolMessage(result, wire))]));
    addUserParts(list, wire.imagesInToolResults ? [] : answered.flatMap((result) => toShownImages(result, wire)));
  });
  return list.map(withPlainText);
}

function remembered(made: Made, of: object, make: () => JsonObject[]): readonly JsonObject[] {
  const messages = made.get(of) ?? make();
  made.set(of, messages);
  return messages;
}

/** Chat templates of local models insist on roles that alternate: what a user says in a row is one message. */
function addUserParts(list: JsonObject[], parts: JsonObject[]): void {
  if (parts.length === 0) return;
  const last = list.at(-1);
  if (last?.["role"] === "user" && Array.isArray(last["content"])) last["content"].push(...parts);
  else list.push({ role: "user", content: parts });
}

function toContentParts(wire: Wire): (part: TextPart | ImagePart) => JsonObject[] {
  return (part) => {
    if (part.type === "text") return part.text.trim() ? [{ type: "text", text: part.text }] : [];
    const isPdf = part.mediaType === pdfType;
    if (!wire.images || (isPdf && (part.url !== undefined || !wire.pdf))) return [{ type: "text", text: inWordsOf(part) }];
    const url = part.url ?? `data:${part.mediaType};base64,${part.data}`;
    return [
      isPdf ? { type: "file", file: { filename: "document.pdf", file_data: url } } : { type: "image_url", image_url: { url } },
    ];
  };
}

/** Text alone is sent as a string, which every server takes. */
function withPlainText(message: JsonObject): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const texts = content.map((part) => (isJsonObject(part) ? part["text"] : undefined));
  return texts.every((text) => typeof text === "string") ? { ...message, content: texts.join("\n\n") } : message;
}

function toAssistant(message: AssistantMessage, wire: Wire): JsonObject[] {
  const text = textOf(message.content);
  const calls = callsOf(message);
  if (!text.trim() && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text.trim() ? text : null,
      ...(wire.sendReasoning && toReasoning(message, wire)),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => toCall(call, wire)) }),
    },
  ];
}

function toReasoning(message: AssistantMessage, wire: Wire): JsonObject {
  const parts = message.content.filter((part): part is ReasoningPart => part.type === "reasoning");
  const details = parts.flatMap((part) => listIn(metadataOf(part), "reasoning_details"));
  if (details.length > 0) return { reasoning_details: details };
  const text = parts.map((part) => part.text).join("");
  // Servers that want it back miss it on every message with calls, also where the model had not reasoned.
  const needed = wire.reasoningField === "reasoning_content" && callsOf(message).length > 0;
  return text || needed ? { [wire.reasoningField]: text } : {};
}

function toCall(call: ToolCallPart, wire: Wire): JsonObject {
  const extra = metadataOf(call)["extra_content"];
  return {
    id: toWireId(call.callId, wire),
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(isJsonObject(call.input) ? call.input : {}) },
    ...defined({ extra_content: extra }),
  };
}

function metadataOf(part: ReasoningPart | ToolCallPart): JsonObject {
  return objectIn(part.providerMetadata ?? {}, dialectId);
}

/** OpenAI refuses ids of more than 40 characters, which other providers make. */
const maxIdLength = 40;

function toWireId(callId: string, wire: Wire): string {
  if (wire.nineCharacterCallIds) return /^[A-Za-z0-9]{9}$/.test(callId) ? callId : digestOf(callId, 9);
  if (callId.length <= maxIdLength) return callId;
  const digest = digestOf(callId, 12);
  return `${callId.slice(0, maxIdLength - digest.length - 1)}_${digest}`;
}

function digestOf(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/** The results that belong to the calls of one message: those before the next answer. */
function resultsAfter(messages: readonly Message[], index: number): Map<string, ToolResultPart> {
  const results = new Map<string, ToolResultPart>();
  for (const message of messages.slice(index + 1)) {
    if (message.role === "assistant") break;
    if (message.role === "tool") for (const result of message.content) results.set(result.callId, result);
  }
  return results;
}

function noResult({ callId, name }: ToolCallPart): ToolResultPart {
  return { type: "tool-result", callId, name, content: [{ type: "text", text: "(no result)" }], isError: true };
}

function toToolMessage(result: ToolResultPart, wire: Wire): JsonObject {
  const shownLater = wire.images && !wire.imagesInToolResults;
  const content = result.content.map((part): TextPart | ImagePart =>
    part.type === "image" && shownLater ? { type: "text", text: "(an image, shown in the next message)" } : part,
  );
  const parts = content.flatMap(toContentParts(wire));
  return { role: "tool", tool_call_id: toWireId(result.callId, wire), content: parts.length > 0 ? parts : "(no output)" };
}

function toShownImages(result: ToolResultPart, wire: Wire): JsonObject[] {
  const images = result.content.filter((part) => part.type === "image");
  if (images.length === 0 || !wire.images) return [];
  return [{ type: "text", text: `From the result of ${result.name}:` }, ...images.flatMap(toContentParts(wire))];
}

function toTool({ name, description, inputSchema }: ToolDefinition): JsonObject {
  // A tool without parameters still needs to say that it has no properties.
  const parameters = { type: "object", ...inputSchema, properties: inputSchema["properties"] ?? {} };
  return { type: "function", function: { name, description, parameters } };
}

/** Where the server would refuse to enforce the schema, it is only advice. */
function toResponseFormat(schema: JsonObject): JsonObject {
  return { type: "json_schema", json_schema: { name: "answer", schema, strict: fitsStrictMode(schema) } };
}

// ----------------------------------------------------------------------------------------------------- answer

type CallBlock = {
  readonly type: "call";
  readonly call: StreamedCall;
  /** Given when the name is known: a call is not told of before. */
  callId: string | undefined;
  extra: JsonValue | undefined;
};
type Block = { type: "text" | "reasoning"; text: string } | CallBlock;
type Asked = { readonly request: ModelRequest; readonly provider: string; readonly wire: Wire };

function createDecoder(asked: Asked): Decoder {
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
