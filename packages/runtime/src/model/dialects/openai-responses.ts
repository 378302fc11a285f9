import { createHash } from "node:crypto";
import {
  type AssistantMessage,
  type AssistantPart,
  type FinishReason,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type Message,
  type TextPart,
  type ToolDefinition,
  type ToolResultPart,
  type Usage,
  isJsonObject,
} from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Decoder, Dialect } from "../dialect.ts";
import { excerpt } from "../http-error.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { effortFor, fitEffort, fitOutput, fitTemperature, type Tell } from "../capabilities/fit.ts";
import { gptModels } from "../capabilities/gpt.ts";
import { findRecord, type ModelRecord } from "../capabilities/record.ts";
import { CallNames } from "./call-names.ts";
import { numberIn, parseJson, stringIn } from "./json-fields.ts";
import { openAIStreamError } from "./openai-errors.ts";
import { defined } from "../../util/defined.ts";
import { pdfType } from "../../protocol/media.ts";

const dialectId = "openai-responses";

/** The wire format of OpenAI's Responses API, streaming, with nothing kept on the server. */
export const openaiResponses: Dialect = { id: dialectId, nativeSchema: true, encode, decoder: createDecoder };

// ---------------------------------------------------------------------------------------------------- request

/** The API refuses a smaller limit. */
const minOutputTokens = 16;

function encode(request: ModelRequest, tell: Tell = () => {}): JsonObject {
  const { temperature, outputSchema } = request;
  const record = gptRecord(request);
  const effort = record
    ? fitEffort(request, record, tell) || record.usualEffort
    : (request.effort ?? effortFor(request.thinkingTokens));
  const thinks = Boolean(effort) && effort !== "none";
  const warmth = record ? fitTemperature(request, { record, thinks, tell }) : thinks ? undefined : temperature;
  const maxOutputTokens = fitOutput(request.maxOutputTokens, record, tell);
  if (request.stopSequences?.length) tell("The Responses API takes no stop sequences: it is asked without");
  const body: JsonObject = {
    model: request.model,
    ...(request.system.trim() && { instructions: request.system }),
    input: request.messages.flatMap(toItems),
    ...(request.tools.length > 0 && { tools: request.tools.map(toTool) }),
    ...(request.tools.length > 0 && record?.parallelCalls === false && { parallel_tool_calls: false }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: Math.max(minOutputTokens, maxOutputTokens) }),
    ...(warmth !== undefined && { temperature: warmth }),
    ...(effort && { reasoning: { effort, ...(thinks && { summary: "auto" }) } }),
    ...(outputSchema && { text: { format: { type: "json_schema", name: "answer", schema: outputSchema, strict: false } } }),
    store: false,
    include: ["reasoning.encrypted_content"],
  };
  return { ...merge(body, request.options ?? {}), stream: true };
}

function gptRecord({ model, capabilities }: ModelRequest): ModelRecord | undefined {
  const record = findRecord(gptModels, model);
  return record && capabilities ? { ...record, ...capabilities } : record;
}

/** Options win, but do not throw out what they do not mention: objects are merged and lists grow. */
function merge(body: JsonObject, options: JsonObject): JsonObject {
  const merged = { ...body };
  for (const [name, value] of Object.entries(options)) {
    const own = body[name];
    if (isJsonObject(own) && isJsonObject(value)) merged[name] = { ...own, ...value };
    else merged[name] = Array.isArray(own) && Array.isArray(value) ? [...own, ...value] : value;
  }
  return merged;
}

/** The API refuses an object without `properties`, even if it is to have none. */
function toTool({ name, description, inputSchema }: ToolDefinition): JsonObject {
  return { type: "function", name, description, parameters: { type: "object", properties: {}, ...inputSchema }, strict: false };
}

const madeItems = new WeakMap<Message, readonly JsonObject[]>();

/** Messages never change, so each one is turned once; who writes the body relies on getting the same objects again. */
function toItems(message: Message): readonly JsonObject[] {
  const items = madeItems.get(message) ?? makeItems(message);
  madeItems.set(message, items);
  return items;
}

function makeItems(message: Message): JsonObject[] {
  switch (message.role) {
    case "user": {
      const content = message.content.flatMap(toContent);
      return content.length > 0 ? [{ type: "message", role: "user", content }] : [];
    }
    case "assistant":
      return toAssistantItems(message.content);
    case "tool":
      return message.content.map((part) => ({
        type: "function_call_output",
        call_id: toWireId(part.callId),
        output: toOutput(part),
      }));
  }
}

function toContent(part: TextPart | ImagePart): JsonObject[] {
  if (part.type === "text") return part.text.trim() ? [{ type: "input_text", text: part.text }] : [];
  const url = part.url ?? `data:${part.mediaType};base64,${part.data}`;
  if (part.mediaType !== pdfType) return [{ type: "input_image", image_url: url, detail: "auto" }];
  return [{ type: "input_file", ...(part.url === undefined ? { filename: "document.pdf", file_data: url } : { file_url: url }) }];
}

/** Plain text where that is enough: every server takes it. */
function toOutput({ content }: ToolResultPart): JsonValue {
  const parts = content.flatMap(toContent);
  if (parts.length === 0) return "(no output)";
  if (parts.some((part) => part["type"] === "input_image")) return parts;
  return parts.map((part) => stringIn(part, "text")).join("\n");
}

function toAssistantItems(parts: readonly AssistantPart[]): JsonObject[] {
  const items = parts.flatMap(toAssistantItem);
  // Reasoning that led to nothing is refused.
  return items.slice(0, items.findLastIndex((item) => item["type"] !== "reasoning") + 1);
}

function toAssistantItem(part: AssistantPart): JsonObject[] {
  const own = part.type === "opaque" ? undefined : part.providerMetadata?.[dialectId];
  switch (part.type) {
    case "text": {
      if (!part.text.trim()) return [];
      const content = [{ type: "output_text", text: part.text, annotations: [] }];
      return [{ type: "message", role: "assistant", ...(isJsonObject(own) && own), content }];
    }
    case "reasoning":
      return isJsonObject(own) && isWhole(own) ? [own] : [];
    case "tool-call": {
      const input = isJsonObject(part.input) ? part.input : {};
      // Without the item's own id: with it the API insists on the reasoning item that came before.
      return [{ type: "function_call", call_id: toWireId(part.callId), name: part.name, arguments: JSON.stringify(input) }];
    }
    case "opaque":
      return part.dialect === dialectId && isJsonObject(part.value) ? [part.value] : [];
  }
}

/** Nothing is stored on the server: an item that is only a reference cannot be found there. */
function isWhole({ encrypted_content: encrypted, content }: JsonObject): boolean {
  return (typeof encrypted === "string" && encrypted !== "") || (Array.isArray(content) && content.length > 0);
}

/** The API takes at most 64 characters; calls that another provider made may have longer ids. */
function toWireId(callId: string): string {
  if (/^[\w-]{1,64}$/.test(callId)) return callId;
  return `call_${createHash("sha256").update(callId).digest("hex").slice(0, 32)}`;
}

// ----------------------------------------------------------------------------------------------------- answer

/** Where the wire says an item is; either may be missing, and some servers get one of them wrong. */
type Address = { readonly id: string; readonly index: number | undefined };

/** `pieces` by kind and place within the item; `raw` is the whole item, once it came. */
type Words = { readonly type: "message" | "reasoning"; readonly pieces: Map<string, string>; raw: JsonObject | undefined };
/** `callId` is what we call it, `givenId` what the wire does; `shown` is how much of `json` was streamed on. */
type Call = {
  readonly type: "function_call";
  callId: string | undefined;
  givenId: string;
  name: string;
  json: string;
  shown: number;
};
type Other = { readonly type: "other"; readonly kind: string; raw: JsonObject | undefined };
type Item = { readonly address: Address; done: boolean } & (Words | Call | Other);

function createDecoder(request: ModelRequest, provider: string): Decoder {
  const answer = new Answer(request, provider);
  return { push: (payload) => answer.push(payload) };
}

class Answer {
  readonly #request: ModelRequest;
  readonly #provider: string;
  #items: Item[] = [];
  #callNames: CallNames | undefined;
  #responseId: string | undefined;
  #model: string;
  #usage: JsonObject = {};
  #finished = false;

  constructor(request: ModelRequest, provider: string) {
    this.#request = request;
    this.#provider = provider;
    this.#model = request.model;
  }

  push({ event, data }: { event: string | undefined; data: string }): ModelEvent[] {
    if (this.#finished || data.trim() === "[DONE]") return [];
    const payload = parsePayload(data);
    const type = event === "error" ? event : stringIn(payload, "type") || event || (payload["error"] ? "error" : "");
    switch (type) {
      case "response.created":
      case "response.in_progress":
        this.#note(objectIn(payload, "response"));
        return [];
      case "response.output_item.added":
        return this.#startItem(payload, objectIn(payload, "item"));
      case "response.output_item.done":
        return this.#endItem(payload, objectIn(payload, "item"));
      case "response.function_call_arguments.delta":
        return this.#addArguments(payload);
      case "response.function_call_arguments.done":
        return this.#endArguments(payload);
      case "response.content_part.done":
        return this.#endPart(payload, objectIn(payload, "part"));
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#end(objectIn(payload, "response"), type.slice("response.".length));
      case "error":
        throw streamError(isJsonObject(payload["error"]) ? payload["error"] : payload, this.#provider);
      default:
        return this.#addWords(payload, type);
    }
  }

  #note(response: JsonObject): void {
    this.#responseId = stringIn(response, "id") || this.#responseId;
    this.#model = stringIn(response, "model") || this.#model;
    if (isJsonObject(response["usage"])) this.#usage = response["usage"];
  }

  #startItem(payload: JsonObject, raw: JsonObject): ModelEvent[] {
    return this.#take(this.#add(addressOf(payload, raw), stringIn(raw, "type")), raw);
  }

  #endItem(payload: JsonObject, raw: JsonObject): ModelEvent[] {
    const item = this.#itemAt(addressOf(payload, raw), stringIn(raw, "type"));
    item.done = true;
    return this.#take(item, raw);
  }

  /** Takes an item as it stands now; what was not yet streamed of it becomes visible. */
  #take(item: Item, raw: JsonObject): ModelEvent[] {
    if (item.type === "function_call") {
      completeCall(item, raw);
      return this.#show(item);
    }
    if (item.done) item.raw = raw;
    return item.type === "other" ? [] : piecesIn(raw).flatMap(({ key, whole }) => completePiece(item, key, whole));
  }

  #addArguments(payload: JsonObject): ModelEvent[] {
    const item = this.#itemAt(addressOf(payload), "function_call");
    if (item.type !== "function_call") return [];
    item.json += stringIn(payload, "delta");
    return this.#show(item);
  }

  #endArguments(payload: JsonObject): ModelEvent[] {
    const item = this.#itemAt(addressOf(payload), "function_call");
    return item.type === "function_call" ? this.#take(item, payload) : [];
  }

  #addWords(payload: JsonObject, type: string): ModelEvent[] {
    const [, kind = "", step] = /^response\.(\w+)\.(delta|done)$/.exec(type) ?? [];
    const rule = wordRules[kind];
    if (!rule) return []; // annotations, progress of server tools, keepalive, and kinds that are invented later
    const item = this.#itemAt(addressOf(payload), rule.item);
    if (!isWords(item)) return [];
    const key = pieceKey(kind, payload[rule.place]);
    if (step === "delta") return addToPiece(item, key, stringIn(payload, "delta"));
    return completePiece(item, key, stringIn(payload, rule.field));
  }

  #endPart(payload: JsonObject, part: JsonObject): ModelEvent[] {
    const kind = stringIn(part, "type");
    const rule = wordRules[kind];
    const address = addressOf(payload);
    // Some servers call a piece of reasoning a piece of a message; the item tells.
    if (!rule || (rule.item === "message" && this.#find(address, "reasoning"))) return [];
    const item = this.#itemAt(address, rule.item);
    return isWords(item) ? completePiece(item, pieceKey(kind, payload[rule.place]), stringIn(part, rule.field)) : [];
  }

  #itemAt(address: Address, kind: string): Item {
    return this.#find(address, kind) ?? this.#add(address, kind);
  }

  /** Not every server keeps an item's id from event to event, and not every server counts its items. */
  #find({ id, index }: Address, kind: string): Item | undefined {
    const same = this.#items.filter((item) => kindOf(item) === kind);
    return (
      same.findLast(({ address, done }) => id !== "" && address.id === id && (address.index === index || !done)) ??
      same.findLast(({ address, done }) => !done && (address.index ?? index) === (index ?? address.index))
    );
  }

  #add(address: Address, kind: string): Item {
    const item: Item = { address, done: false, ...newItem(kind) };
    this.#items.push(item);
    return item;
  }

  /** Streams what is new of a call, once its id is known. */
  #show(call: Item & Call): ModelEvent[] {
    if (call.callId === undefined && !call.givenId && !call.done) return [];
    call.callId ??= this.#uniqueId(call);
    const json = call.json.slice(call.shown);
    call.shown = call.json.length;
    return json ? [{ type: "tool-input.delta", callId: call.callId, name: call.name, json }] : [];
  }

  #uniqueId(call: Item & Call): string {
    const { messages } = this.#request;
    this.#callNames ??= new CallNames(messages);
    const base = `call_${this.#responseId ?? messages.length}_${this.#items.indexOf(call)}`;
    return this.#callNames.take(call.givenId || call.address.id, base);
  }

  /** `status` is the event's; the response may say otherwise, and then it is right. */
  #end(response: JsonObject, status: string): ModelEvent[] {
    this.#note(response);
    const said = stringIn(response, "status") || status;
    if (said === "failed" || status === "failed")
      throw streamError(isJsonObject(response["error"]) ? response["error"] : {}, this.#provider);
    const events = this.#reconcile(response["output"]);
    this.#finished = true;
    return [...events, { type: "finished", message: this.#toMessage(said, response["incomplete_details"]) }];
  }

  /** The last event repeats every item, and with some servers it is the only one that has them. */
  #reconcile(output: JsonValue | undefined): ModelEvent[] {
    const raws = Array.isArray(output) ? output.filter(isJsonObject) : [];
    const known = [...this.#items];
    const events: ModelEvent[] = [];
    const ordered = raws.map((raw, index) => {
      const item = takeMatch(known, raw, index) ?? this.#add(addressOf({ output_index: index }, raw), stringIn(raw, "type"));
      item.done ||= raw["status"] !== "in_progress";
      events.push(...this.#take(item, raw));
      return item;
    });
    if (known.length === 0) this.#items = ordered;
    return [...events, ...this.#items.flatMap((item) => this.#close(item))];
  }

  #close(item: Item): ModelEvent[] {
    if (item.type !== "function_call") return [];
    item.done = true;
    return this.#show(item);
  }

  #toMessage(status: string, details: JsonValue | undefined): AssistantMessage {
    const reason = isJsonObject(details) ? stringIn(details, "reason") : "";
    const last = this.#items.at(-1);
    return {
      role: "assistant",
      content: this.#items.flatMap((item) => toParts(item, status === "incomplete" && item === last)),
      model: { provider: this.#provider, id: this.#model },
      finish: toFinish(status, reason, this.#items),
      stopReason: reason || status,
      usage: toUsage(this.#usage),
      ...defined({ responseId: this.#responseId }),
    };
  }
}

type WordRule = { readonly item: "message" | "reasoning"; readonly place: string; readonly field: string };

/** Per kind of words: what they belong to, where their place in it is written, and where the whole of them. */
const wordRules: Readonly<Record<string, WordRule>> = {
  output_text: { item: "message", place: "content_index", field: "text" },
  refusal: { item: "message", place: "content_index", field: "refusal" },
  reasoning_summary_text: { item: "reasoning", place: "summary_index", field: "text" },
  reasoning_text: { item: "reasoning", place: "content_index", field: "text" },
};

function addressOf(payload: JsonObject, raw: JsonObject = {}): Address {
  return { id: stringIn(raw, "id") || stringIn(payload, "item_id"), index: numberIn(payload, "output_index") };
}

/** Takes out of `items` the one that `raw` is the whole of: by its ids, else by its place, else by the order of its kind. */
function takeMatch(items: Item[], raw: JsonObject, index: number): Item | undefined {
  const same = items.filter((item) => kindOf(item) === raw["type"]);
  const match =
    same.find((item) => item.type === "function_call" && item.givenId !== "" && item.givenId === raw["call_id"]) ??
    same.find(({ address }) => address.id !== "" && address.id === raw["id"]) ??
    same.find(({ address }) => address.index === index) ??
    same[0];
  if (match) items.splice(items.indexOf(match), 1);
  return match;
}

function kindOf(item: Item): string {
  return item.type === "other" ? item.kind : item.type;
}

function newItem(kind: string): Words | Call | Other {
  switch (kind) {
    case "message":
    case "reasoning":
      return { type: kind, pieces: new Map(), raw: undefined };
    case "function_call":
      return { type: kind, callId: undefined, givenId: "", name: "", json: "", shown: 0 };
    default:
      return { type: "other", kind, raw: undefined };
  }
}

function isWords(item: Item): item is Item & Words {
  return item.type === "message" || item.type === "reasoning";
}

function pieceKey(kind: string, place: JsonValue | undefined): string {
  return `${kind}:${typeof place === "number" ? place : 0}`;
}

/** The words of a whole item, keyed as their deltas are. */
function piecesIn(raw: JsonObject): { key: string; whole: string }[] {
  const toPiece = (kind: string, piece: JsonObject, place: number): { key: string; whole: string } => ({
    key: pieceKey(kind, place),
    whole: stringIn(piece, wordRules[kind]?.field ?? ""),
  });
  return [
    ...listIn(raw, "summary").map((piece, place) => toPiece("reasoning_summary_text", piece, place)),
    ...listIn(raw, "content").map((piece, place) => toPiece(stringIn(piece, "type"), piece, place)),
  ];
}

function addToPiece(item: Words, key: string, text: string): ModelEvent[] {
  if (!text) return [];
  const before = item.pieces.get(key) ?? "";
  const isNext = item.type === "reasoning" && !before && item.pieces.size > 0;
  item.pieces.set(key, before + text);
  if (item.type === "message") return [{ type: "text.delta", text }];
  return [{ type: "reasoning.delta", text: isNext ? `${pieceBreak}${text}` : text }];
}

/** Between two pieces of reasoning: each is a paragraph with a title of its own. */
const pieceBreak = "\n\n";

/** The whole of a piece has the last word; what of it had not been streamed is now. */
function completePiece(item: Words, key: string, whole: string): ModelEvent[] {
  const before = item.pieces.get(key) ?? "";
  if (whole.startsWith(before)) return addToPiece(item, key, whole.slice(before.length));
  if (whole) item.pieces.set(key, whole);
  return [];
}

function completeCall(call: Call, raw: JsonObject): void {
  call.givenId ||= stringIn(raw, "call_id");
  call.name ||= stringIn(raw, "name");
  const given = raw["arguments"];
  const whole = isJsonObject(given) ? JSON.stringify(given) : stringIn(raw, "arguments");
  if (!whole) return;
  if (!whole.startsWith(call.json)) call.shown = whole.length; // what was streamed cannot be taken back
  call.json = whole;
}

/** `cut`: the answer broke off in this item, so that a call without a single argument byte is not a call without arguments. */
function toParts(item: Item, cut: boolean): AssistantPart[] {
  switch (item.type) {
    case "message": {
      const phase = item.raw?.["phase"]; // commentary or answer: only this wire knows, and wants to know again
      const own = typeof phase === "string" ? { providerMetadata: { [dialectId]: { phase } } } : {};
      return [...item.pieces.values()].map((text) => ({ type: "text", text, ...own }));
    }
    case "reasoning": {
      const text = [...item.pieces.values()].join(pieceBreak);
      if (item.raw) return [{ type: "reasoning", text, providerMetadata: { [dialectId]: item.raw } }];
      return text ? [{ type: "reasoning", text }] : [];
    }
    case "function_call":
      return [{ type: "tool-call", callId: item.callId ?? "", name: item.name, ...toInput(item.json, cut) }];
    case "other":
      return item.raw ? [{ type: "opaque", dialect: dialectId, value: item.raw }] : [];
  }
}

function toInput(json: string, cut: boolean): { input: JsonObject; malformedInput?: string } {
  if (!json && !cut) return { input: {} };
  const input = parseJson(json);
  return isJsonObject(input) ? { input } : { input: {}, malformedInput: json };
}

const incompleteReasons: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: "length",
  content_filter: "content-filter",
  "": "length",
};

function toFinish(status: string, reason: string, items: readonly Item[]): FinishReason {
  if (status === "incomplete") return incompleteReasons[reason] ?? "other";
  const refused = items.some(
    (item) => item.type === "message" && [...item.pieces.keys()].some((key) => key.startsWith("refusal")),
  );
  if (refused) return "refusal";
  if (items.some((item) => item.type === "function_call")) return "tool-calls";
  return status === "completed" ? "stop" : "other";
}

function toUsage(usage: JsonObject): Usage {
  const input = isJsonObject(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  const output = isJsonObject(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  return {
    inputTokens: numberIn(usage, "input_tokens") ?? 0,
    outputTokens: numberIn(usage, "output_tokens") ?? 0,
    cacheReadTokens: numberIn(input, "cached_tokens") ?? 0,
    cacheWriteTokens: numberIn(input, "cache_write_tokens") ?? 0,
    reasoningTokens: numberIn(output, "reasoning_tokens") ?? 0,
  };
}

// ----------------------------------------------------------------------------------------------------- errors

/** On top of what all of OpenAI's wires share: codes of this API for what no retry helps, and waiting times. */
function streamError(error: JsonObject, provider: string): RuntimeError {
  const failure = openAIStreamError(error, provider);
  if (!failure.retryable) return failure;
  if (/image|_policy$|_residency_/.test(stringIn(error, "code")))
    return new RuntimeError("provider-bad-request", failure.message);
  const retryAfterMs = waitIn(stringIn(error, "message"));
  return retryAfterMs === undefined
    ? failure
    : new RuntimeError(failure.code, failure.message, { ...failure.toJSON(), retryAfterMs });
}

/** There are no headers inside a stream: how long to wait is only in the words. */
function waitIn(message: string): number | undefined {
  const [, amount, unit] = /try again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(message) ?? [];
  if (amount === undefined) return undefined;
  return Math.ceil(Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1_000));
}

function broken(what: string): RuntimeError {
  return new RuntimeError("provider-protocol", `A piece of OpenAI's stream ${what}`, { retryable: true });
}

// ------------------------------------------------------------------------------------------------------- JSON

function parsePayload(data: string): JsonObject {
  const payload = parseJson(data);
  if (isJsonObject(payload)) return payload;
  throw broken(`is no JSON object: ${excerpt(data)}`);
}

function objectIn(payload: JsonObject, name: string): JsonObject {
  const value = payload[name];
  if (isJsonObject(value)) return value;
  throw broken(`lacks "${name}": ${excerpt(JSON.stringify(payload))}`);
}

function listIn(object: JsonObject, name: string): JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
