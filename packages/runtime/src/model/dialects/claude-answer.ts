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
import { broken, objectIn, streamError } from "./claude-errors.ts";
import { defined } from "../../util/defined.ts";
import { dialectId } from "./claude-request.ts";
import { excerpt } from "../http-error.ts";
import { numberIn, parseJson, stringIn } from "./json-fields.ts";
import { toBrokenInput } from "../../util/too-deep.ts";

type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature: string }
  | { type: "tool"; callId: string; name: string; json: string; input: unknown }
  | { type: "opaque"; value: JsonObject; json: string };

export function createDecoder(request: ModelRequest, provider: string): Decoder {
  const answer = new Answer(request, provider);
  return { push: (payload) => answer.push(payload) };
}

/** A piece of text as the API writes it when nothing in it is escaped: nearly every payload, and reading it as JSON takes six times as long. */
const plainTextDelta =
  /^\{"type":"content_block_delta","index":(0|[1-9]\d{0,3}),"delta":\{"type":"text_delta","text":"([ !#-[\]-\uFFFF]*)"\} *\}$/;

function parsePayload(data: string): JsonObject {
  const payload = parseJson(data);
  if (isJsonObject(payload)) return payload;
  throw broken(`is no JSON object: ${excerpt(data)}`);
}

class Answer {
  readonly #request: ModelRequest;
  readonly #provider: string;
  readonly #blocks: Block[] = [];
  readonly #byIndex = new Map<JsonValue | undefined, Block>();
  readonly #usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, thinking: 0 };
  #callNames: CallNames | undefined;
  #responseId: string | undefined;
  #model: string;
  #stopReason: string | undefined;
  #stopSequence: string | undefined;
  #finished = false;

  constructor(request: ModelRequest, provider: string) {
    this.#request = request;
    this.#provider = provider;
    this.#model = request.model;
  }

  push({ event, data }: { event: string | undefined; data: string }): ModelEvent[] {
    if (this.#finished) return [];
    const plain = plainTextDelta.exec(data);
    const block = plain && this.#byIndex.get(Number(plain[1]));
    if (block?.type === "text") return addText(block, plain?.[2] ?? "");
    const payload = parsePayload(data);
    switch (payload["type"] ?? event) {
      case "message_start":
        this.#start(objectIn(payload, "message"));
        return [];
      case "content_block_start":
        return this.#startBlock(payload["index"], objectIn(payload, "content_block"));
      case "content_block_delta":
        return this.#addToBlock(payload["index"], objectIn(payload, "delta"));
      case "message_delta":
        this.#updateEnd(payload);
        return [];
      case "message_stop":
        this.#finished = true;
        return [{ type: "finished", message: this.#toMessage() }];
      case "error":
        throw streamError(objectIn(payload, "error"));
      default:
        return []; // ping, content_block_stop, and kinds that are invented later
    }
  }

  #start(message: JsonObject): void {
    if (typeof message["id"] === "string") this.#responseId = message["id"];
    if (typeof message["model"] === "string" && message["model"]) this.#model = message["model"];
    this.#count(message["usage"]);
  }

  #startBlock(index: JsonValue | undefined, start: JsonObject): ModelEvent[] {
    const block = this.#toBlock(start);
    this.#blocks.push(block);
    this.#byIndex.set(index, block);
    if (block.type === "text" && block.text) return [{ type: "text.delta", text: block.text }];
    if (block.type === "thinking" && block.text) return [{ type: "reasoning.delta", text: block.text }];
    return [];
  }

  #toBlock(start: JsonObject): Block {
    switch (start["type"]) {
      case "text":
        return { type: "text", text: stringIn(start, "text") };
      case "thinking":
        return { type: "thinking", text: stringIn(start, "thinking"), signature: stringIn(start, "signature") };
      case "tool_use":
        return {
          type: "tool",
          callId: this.#uniqueId(start["id"]),
          name: stringIn(start, "name"),
          json: "",
          input: start["input"],
        };
      default:
        return { type: "opaque", value: start, json: "" };
    }
  }

  #uniqueId(id: JsonValue | undefined): string {
    const { messages } = this.#request;
    this.#callNames ??= new CallNames(messages);
    const base = `call_${this.#responseId ?? messages.length}_${this.#blocks.length}`;
    return this.#callNames.take(typeof id === "string" ? id : "", base);
  }

  #addToBlock(index: JsonValue | undefined, delta: JsonObject): ModelEvent[] {
    const block = this.#byIndex.get(index);
    if (!block) throw broken(`adds to block ${JSON.stringify(index)}, which was never started`);
    switch (delta["type"]) {
      case "text_delta":
        return block.type === "text" ? addText(block, stringIn(delta, "text")) : [];
      case "thinking_delta":
        return block.type === "thinking" ? addThinking(block, stringIn(delta, "thinking")) : [];
      case "signature_delta":
        return block.type === "thinking" ? addSignature(block, stringIn(delta, "signature")) : [];
      case "input_json_delta":
        return addJson(block, stringIn(delta, "partial_json"));
      default:
        return []; // citations, and kinds that are invented later
    }
  }

  #updateEnd(payload: JsonObject): void {
    const delta = isJsonObject(payload["delta"]) ? payload["delta"] : {};
    if (typeof delta["stop_reason"] === "string") this.#stopReason = delta["stop_reason"];
    if (typeof delta["stop_sequence"] === "string") this.#stopSequence = delta["stop_sequence"];
    this.#count(payload["usage"]);
  }

  /** Counts are running totals: a later one replaces the earlier. */
  #count(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    this.#usage.input = numberIn(usage, "input_tokens") ?? this.#usage.input;
    this.#usage.cacheRead = numberIn(usage, "cache_read_input_tokens") ?? this.#usage.cacheRead;
    this.#usage.cacheWrite = numberIn(usage, "cache_creation_input_tokens") ?? this.#usage.cacheWrite;
    this.#usage.output = numberIn(usage, "output_tokens") ?? this.#usage.output;
    const { output_tokens_details: details } = usage;
    this.#usage.thinking = (isJsonObject(details) ? numberIn(details, "thinking_tokens") : undefined) ?? this.#usage.thinking;
  }

  #toMessage(): AssistantMessage {
    const finish = toFinish(this.#stopReason, this.#blocks);
    return {
      role: "assistant",
      content: this.#blocks.flatMap((block, index) => toParts(block, finish === "length" && index === this.#blocks.length - 1)),
      model: { provider: this.#provider, id: this.#model },
      finish,
      ...defined({ stopReason: this.#stopReason, stopSequence: this.#stopSequence }),
      usage: toUsage(this.#usage),
      ...defined({ responseId: this.#responseId }),
    };
  }
}

function addText(block: Block & { type: "text" }, text: string): ModelEvent[] {
  block.text += text;
  return text ? [{ type: "text.delta", text }] : [];
}

function addThinking(block: Block & { type: "thinking" }, text: string): ModelEvent[] {
  block.text += text;
  return text ? [{ type: "reasoning.delta", text }] : [];
}

function addSignature(block: Block & { type: "thinking" }, signature: string): ModelEvent[] {
  block.signature += signature;
  return signature ? [{ type: "reasoning.delta", text: "", signature }] : [];
}

function addJson(block: Block, json: string): ModelEvent[] {
  if (block.type !== "tool" && block.type !== "opaque") return [];
  block.json += json;
  return block.type === "tool" && json ? [{ type: "tool-input.delta", callId: block.callId, name: block.name, json }] : [];
}

/** `cut`: the output limit fell into this block, so that a call without a single argument byte is not a call without arguments. */
function toParts(block: Block, cut: boolean): AssistantPart[] {
  switch (block.type) {
    case "text":
      return block.text ? [{ type: "text", text: block.text }] : [];
    case "thinking": {
      if (!block.text && !block.signature) return [];
      const providerMetadata = block.signature ? { providerMetadata: { [dialectId]: { signature: block.signature } } } : {};
      return [{ type: "reasoning", text: block.text, ...providerMetadata }];
    }
    case "tool":
      return [{ type: "tool-call", callId: block.callId, name: block.name, ...toInput(block, cut) }];
    case "opaque": {
      const input = block.json ? parseJson(block.json) : undefined;
      return [{ type: "opaque", dialect: dialectId, value: isJsonObject(input) ? { ...block.value, input } : block.value }];
    }
  }
}

function toInput(block: Block & { type: "tool" }, cut: boolean): { input: JsonObject; malformedInput?: string } {
  if (block.json) {
    const input = parseJson(block.json);
    return isJsonObject(input) ? { input } : { input: {}, malformedInput: block.json };
  }
  const given = isJsonObject(block.input) ? block.input : {};
  if (cut && Object.keys(given).length === 0) return { input: {}, malformedInput: "" };
  if (block.input !== undefined && block.input !== null && !isJsonObject(block.input)) {
    return { input: {}, malformedInput: toBrokenInput(block.input) };
  }
  return { input: given };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  max_tokens: "length",
  tool_use: "tool-calls",
  stop_sequence: "stop-sequence",
  pause_turn: "paused",
  refusal: "refusal",
  model_context_window_exceeded: "context-overflow",
};

function toFinish(stopReason: string | undefined, blocks: readonly Block[]): FinishReason {
  if (stopReason !== undefined) return finishReasons[stopReason] ?? "other";
  return blocks.some((block) => block.type === "tool") ? "tool-calls" : "other";
}

function toUsage(counts: Readonly<Record<"input" | "cacheRead" | "cacheWrite" | "output" | "thinking", number>>): Usage {
  return {
    inputTokens: counts.input + counts.cacheRead + counts.cacheWrite,
    outputTokens: counts.output,
    cacheReadTokens: counts.cacheRead,
    cacheWriteTokens: counts.cacheWrite,
    reasoningTokens: counts.thinking, // part of the output; older versions of the API do not say how much
  };
}
