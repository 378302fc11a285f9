import {
  type AssistantMessage,
  type AssistantPart,
  type FinishReason,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type Message,
  type TextPart,
  type ToolResultPart,
  type Usage,
  isJsonObject,
} from "../../protocol/content.ts";
import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import { toBoundedJson } from "../../util/too-deep.ts";
import type { Decoder, Dialect } from "../dialect.ts";
import { excerpt, type HttpFailure, redact, toHttpError } from "../http-error.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import type { Tell } from "../capabilities/fit.ts";
import { type ModelRecord, withoutLong } from "../capabilities/record.ts";
import { CallNames } from "./call-names.ts";
import { claudeParameters, claudeRecord, leavesOutThinking, takesSchema } from "./claude-parameters.ts";
import { toClaudeSchema } from "./claude-schema.ts";
import { schemaInWords } from "./schema-in-words.ts";
import { numberIn, parseJson, stringIn } from "./json-fields.ts";
import { defined } from "../../util/defined.ts";
import { shortChecksum } from "../../util/short-checksum.ts";
import { toMediaBlock } from "../../protocol/media.ts";

const dialectId = "anthropic-messages";

/** The wire format of Anthropic's Messages API, streaming. */
export const anthropicMessages: Dialect = {
  id: dialectId,
  nativeSchema: (model) => claudeRecord({ model })?.nativeSchema ?? false,
  fitsSchema: (schema) => toClaudeSchema(schema) !== undefined,
  encode,
  decoder: createDecoder,
};

/** The typed failure behind an HTTP answer of this wire that is no 2xx. */
export function anthropicHttpError(failure: HttpFailure): RuntimeError {
  return toHttpError(failure, { provider: "Anthropic", authHint, isContextOverflow });
}

const authHint = "Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), and ANTHROPIC_BASE_URL if you use a gateway";

// ---------------------------------------------------------------------------------------------------- request

/** Never changed once it is made: another one takes its place. */
type Turn = { readonly role: "user" | "assistant"; readonly content: JsonObject[] };

function encode(request: ModelRequest, tell: Tell = () => {}): JsonObject {
  const record = claudeRecord(request);
  const { thinking: _, output_config: __, ...more } = request.options ?? {};
  const { max_tokens, ...parameters } = claudeParameters(request, tell);
  const system = toSystem(request, record);
  const all = toTurns(request.messages);
  const turns = leavesOutThinking(request) ? withoutThoughts(all) : all;
  return {
    model: withoutLong(request.model),
    max_tokens: max_tokens ?? null,
    ...(system.trim() && { system: [cached({ type: "text", text: system })] }),
    ...(request.tools.length > 0 && { tools: toTools(request.tools) }),
    messages: markForCache(record?.prefill === false ? withLastWord(turns) : turns),
    ...(request.stopSequences && request.stopSequences.length > 0 && { stop_sequences: [...request.stopSequences] }),
    ...parameters,
    ...more,
    stream: true,
  };
}

/** A model that does not keep to a schema by itself is told of it. */
function toSystem({ system, outputSchema }: ModelRequest, record: ModelRecord | undefined): string {
  if (!outputSchema || takesSchema(outputSchema, record)) return system;
  return `${system}\n\n${schemaInWords(outputSchema)}`;
}

function withoutThoughts(turns: readonly Turn[]): Turn[] {
  const isSaid = ({ type }: JsonObject): boolean => type !== "thinking" && type !== "redacted_thinking";
  return turns
    .map(({ role, content }) => ({ role, content: content.filter(isSaid) }))
    .filter(({ content }) => content.length > 0);
}

/** Newer models refuse a conversation that ends with their own words, unless a tool of the server's is at work. */
function withLastWord(turns: readonly Turn[]): Turn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant" || last.content.some((block) => !isPlain(block))) return [...turns];
  return [...turns, { role: "user", content: [{ type: "text", text: "Go on." }] }];
}

function isPlain({ type }: JsonObject): boolean {
  return type === "text" || type === "thinking" || type === "redacted_thinking";
}

function toTools(tools: ModelRequest["tools"]): JsonObject[] {
  return tools.map((tool, index) => {
    const definition = { name: tool.name, description: tool.description, input_schema: tool.inputSchema };
    return index === tools.length - 1 ? cached(definition) : definition;
  });
}

/** Roles must alternate and no content may be empty; results answer their calls before anything else is said. */
function toTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const turn = toTurn(message);
    if (turn.content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === turn.role) turns[turns.length - 1] = joined(last, turn);
    else turns.push(turn);
  }
  const last = turns.at(-1);
  if (last?.role === "assistant") turns[turns.length - 1] = withTrimmedEnd(last);
  return turns;
}

const madeTurns = new WeakMap<Message, Turn>();

/** Messages never change, so each one is turned once; who writes the body relies on getting the same object again. */
function toTurn(message: Message): Turn {
  const before = madeTurns.get(message);
  if (before) return before;
  const turn: Turn = { role: message.role === "assistant" ? "assistant" : "user", content: toBlocks(message) };
  madeTurns.set(message, turn);
  return turn;
}

function joined(one: Turn, other: Turn): Turn {
  const isResult = (block: JsonObject): boolean => block["type"] === "tool_result";
  const content = [...one.content, ...other.content];
  return { role: one.role, content: [...content.filter(isResult), ...content.filter((block) => !isResult(block))] };
}

/** A conversation that ends with the assistant's own words may not end with white space. */
function withTrimmedEnd(turn: Turn): Turn {
  const block = turn.content.at(-1);
  if (block?.["type"] !== "text") return turn;
  return { ...turn, content: [...turn.content.slice(0, -1), { ...block, text: String(block["text"]).trimEnd() }] };
}

function toBlocks(message: Message): JsonObject[] {
  switch (message.role) {
    case "user":
      return message.content.flatMap(toContentBlocks);
    case "assistant":
      return message.content.flatMap(toAssistantBlocks);
    case "tool":
      return message.content.map(toResultBlock);
  }
}

function toContentBlocks(part: TextPart | ImagePart): JsonObject[] {
  if (part.type === "text") return part.text.trim() ? [{ type: "text", text: part.text }] : [];
  return [toMediaBlock(part)];
}

function toAssistantBlocks(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case "text":
      return toContentBlocks(part);
    case "reasoning": {
      const signature = signatureOf(part.providerMetadata?.[dialectId]);
      return signature ? [{ type: "thinking", thinking: part.text, signature }] : [];
    }
    case "tool-call":
      return [
        { type: "tool_use", id: toWireId(part.callId), name: part.name, input: isJsonObject(part.input) ? part.input : {} },
      ];
    case "opaque":
      return part.dialect === dialectId && isJsonObject(part.value) ? [part.value] : [];
  }
}

function toResultBlock(part: ToolResultPart): JsonObject {
  const content = part.content.flatMap(toContentBlocks);
  return {
    type: "tool_result",
    tool_use_id: toWireId(part.callId),
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }],
    ...(part.isError && { is_error: true }),
  };
}

/** Ids of calls another provider made may hold characters this API refuses, or too many of them. */
function toWireId(callId: string): string {
  const id = callId.replace(/[^a-zA-Z0-9_-]/g, "_");
  return id.length <= maxIdLength ? id : `${id.slice(0, maxIdLength - 10)}_${shortChecksum(callId)}`;
}

const maxIdLength = 64;

function signatureOf(metadata: JsonValue | undefined): string | undefined {
  const signature = isJsonObject(metadata) ? metadata["signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/**
 * Marks where the next request may pick up: here, and where the last request ended (the API looks back 20 blocks only,
 * and one answer with many parallel calls is longer). With system and tools that is 4, as many as are allowed.
 */
function markForCache(turns: readonly Turn[]): Turn[] {
  const last = turns.length - 1;
  const marked = [...turns];
  for (const index of [turns.findLastIndex((turn, place) => turn.role === "user" && place < last), last]) {
    const turn = turns[index];
    if (turn) marked[index] = withMark(turn);
  }
  return marked;
}

function withMark(turn: Turn): Turn {
  const index = turn.content.findLastIndex((block) => cacheable.has(String(block["type"])));
  return { ...turn, content: turn.content.map((block, place) => (place === index ? cached(block) : block)) };
}

const cacheable: ReadonlySet<string> = new Set(["text", "image", "document", "tool_use", "tool_result"]);

function cached(block: JsonObject): JsonObject {
  return { ...block, cache_control: { type: "ephemeral" } };
}

// ----------------------------------------------------------------------------------------------------- answer

type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature: string }
  | { type: "tool"; callId: string; name: string; json: string; input: unknown }
  | { type: "opaque"; value: JsonObject; json: string };

function createDecoder(request: ModelRequest, provider: string): Decoder {
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
  readonly #usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
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
    return { input: {}, malformedInput: toBoundedJson(block.input) };
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

function toUsage(counts: { input: number; cacheRead: number; cacheWrite: number; output: number }): Usage {
  return {
    inputTokens: counts.input + counts.cacheRead + counts.cacheWrite,
    outputTokens: counts.output,
    cacheReadTokens: counts.cacheRead,
    cacheWriteTokens: counts.cacheWrite,
    reasoningTokens: 0, // part of the output, but this wire does not say how much
  };
}

// ----------------------------------------------------------------------------------------------------- errors

const streamErrors: Readonly<Record<string, { code: ErrorCode; retryable: boolean }>> = {
  overloaded_error: { code: "provider-overloaded", retryable: true },
  rate_limit_error: { code: "provider-rate-limit", retryable: true },
  api_error: { code: "provider-unavailable", retryable: true },
  timeout_error: { code: "provider-timeout", retryable: true },
  authentication_error: { code: "provider-auth", retryable: false },
  permission_error: { code: "provider-auth", retryable: false },
  billing_error: { code: "provider-auth", retryable: false },
  invalid_request_error: { code: "provider-bad-request", retryable: false },
  request_too_large: { code: "provider-bad-request", retryable: false },
  not_found_error: { code: "provider-bad-request", retryable: false },
};

/** An error the server reports after it had begun to answer. */
function streamError(error: JsonObject): RuntimeError {
  const type = stringIn(error, "type");
  const said = stringIn(error, "message");
  const known = streamErrors[type] ?? { code: "provider-unavailable", retryable: true };
  const code = known.code === "provider-bad-request" && isContextOverflow(said) ? "context-overflow" : known.code;
  const message = `Anthropic broke off its answer with ${type || "an unnamed error"}${said ? `: ${redact(said)}` : ""}`;
  return new RuntimeError(code, message, { retryable: known.retryable, ...(code === "provider-auth" && { hint: authHint }) });
}

/** The API has no code for it, only these words. */
function isContextOverflow(message: string): boolean {
  return /prompt is too long|exceed(s|ed)? (the )?(model's )?(maximum )?context/i.test(message);
}

function broken(what: string): RuntimeError {
  return new RuntimeError("provider-protocol", `A piece of Anthropic's stream ${what}`, { retryable: true });
}

// ------------------------------------------------------------------------------------------------------- JSON

function objectIn(payload: JsonObject, name: string): JsonObject {
  const value = payload[name];
  if (isJsonObject(value)) return value;
  throw broken(`lacks "${name}": ${excerpt(JSON.stringify(payload))}`);
}
