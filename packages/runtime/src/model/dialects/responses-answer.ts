import {
  type Address,
  type Call,
  type Item,
  addToPiece,
  addressOf,
  completeCall,
  completePiece,
  isWords,
  kindOf,
  newItem,
  pieceBreak,
  pieceKey,
  piecesIn,
  takeMatch,
  wordRules,
} from "./responses-items.ts";
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
import type { ModelEvent, ModelRequest } from "../model.ts";
import { broken, streamError } from "./responses-errors.ts";
import { defined } from "../../util/defined.ts";
import { dialectId } from "./responses-request.ts";
import { excerpt } from "../http-error.ts";
import { numberIn, parseJson, stringIn } from "./json-fields.ts";

export function createDecoder(request: ModelRequest, provider: string): Decoder {
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

export function listIn(object: JsonObject, name: string): JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
