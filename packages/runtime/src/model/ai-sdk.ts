import {
  type AssistantMessage,
  type AssistantPart,
  type FinishReason,
  isJsonObject,
  type JsonObject,
  noUsage,
  type ProviderMetadata,
  type ReasoningPart,
  type TextPart,
  type Usage,
} from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { checkOptions, checkValue, count, flag, having, type Kind, text } from "../protocol/kinds.ts";
import { flatten } from "../util/flatten.ts";
import { untilAborted } from "../util/until-aborted.ts";
import { type AiSdkPrompt, dialectId, toPrompt } from "./ai-sdk-prompt.ts";
import { toHttpError } from "./http-error.ts";
import type { ModelEvent, ModelRequest, Provider } from "./model.ts";
import { defaultRetryPolicy, type RetryPolicy, withRetries } from "./retry.ts";
import { retryKind } from "./retry-kind.ts";
import { isRecord } from "../util/is-record.ts";
import { defined } from "../util/defined.ts";

/** The shape of a language model of the Vercel AI SDK, specification v2, v3 or v4, as far as it is used here. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  /** Each version has types of its own for what it is called with; what is sent to it is built for its version. */
  doStream(options: never): PromiseLike<{ readonly stream: AiSdkStream }>;
}

/** A web stream; only its reader is used, since not every runtime can iterate over one. */
export interface AiSdkStream {
  getReader(): { read(): Promise<{ done: boolean; value?: unknown }>; cancel(reason?: unknown): Promise<void> };
}

export type AiSdkCall = {
  prompt: AiSdkPrompt;
  abortSignal: AbortSignal;
  tools?: { type: "function"; name: string; description: string; inputSchema: JsonObject }[];
  toolChoice?: { type: "auto" };
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  responseFormat?: { type: "json"; schema: JsonObject };
  /** Only v4 knows it. */
  reasoning?: string;
  providerOptions?: Record<string, JsonObject>;
};

export type AiSdkOptions = {
  readonly name?: string;
  readonly contextWindow?: number;
  /** Whether the model keeps to `responseFormat`; most do. */
  readonly nativeSchema?: boolean;
  readonly retry?: Partial<RetryPolicy>;
};

const kinds: Readonly<Record<keyof AiSdkOptions, Kind>> = {
  name: text,
  contextWindow: count,
  nativeSchema: flag,
  retry: retryKind,
};

/** Any model of the Vercel AI SDK as a provider. The object is the model: the id in a request does not change it. */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Provider {
  checkValue("model", model, having(["doStream"], 'a model of the AI SDK, such as openai("gpt-5") makes'));
  checkOptions("fromAiSdk", options, kinds);
  const name = options.name ?? model.provider;
  const policy = { ...defaultRetryPolicy, ...options.retry };
  return {
    name,
    model: model.modelId,
    contextWindow: options.contextWindow ?? 128_000,
    nativeSchema: options.nativeSchema ?? true,
    stream: (request, { signal }) =>
      flatten(withRetries(() => streamOnce({ model, name, request, signal }), { policy, signal, random: Math.random })),
  };
}

type Call = { model: AiSdkModel; name: string; request: ModelRequest; signal: AbortSignal };

async function* streamOnce({ model, name, request, signal }: Call): AsyncGenerator<readonly ModelEvent[]> {
  const answer = new Answer(name, model.modelId);
  try {
    const call = toCall(request, { version: model.specificationVersion, signal });
    const { stream } = await untilAborted(Promise.resolve(model.doStream(call as never)), signal); // built for its version
    for await (const part of partsOf(stream, signal)) {
      const events = answer.push(part);
      if (events.length > 0) yield events;
    }
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw toError(thrown, name);
  }
  yield [{ type: "finished", message: answer.toMessage() }];
}

function toCall(request: ModelRequest, { version, signal }: { version: string; signal: AbortSignal }): AiSdkCall {
  const { tools, maxOutputTokens, temperature, stopSequences, outputSchema, effort, options } = request;
  return {
    prompt: toPrompt(request, version),
    abortSignal: signal,
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: "function" as const, ...tool })),
      toolChoice: { type: "auto" },
    }),
    ...defined({ maxOutputTokens, temperature }),
    ...(stopSequences && stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
    ...(outputSchema && { responseFormat: { type: "json", schema: outputSchema } }),
    ...(effort && version === "v4" && { reasoning: effort }),
    ...(options && { providerOptions: objectsIn(options) }),
  };
}

/** Provider options are sorted by provider; anything else has no place in them. */
function objectsIn(options: JsonObject): Record<string, JsonObject> {
  const objects: Record<string, JsonObject> = {};
  for (const [name, value] of Object.entries(options)) if (isJsonObject(value)) objects[name] = value;
  return objects;
}

/** Ends with the signal also where the model does not listen to it. */
async function* partsOf(stream: AiSdkStream, signal: AbortSignal): AsyncGenerator<Part> {
  const reader = stream.getReader();
  let ended = false;
  try {
    while (true) {
      const { done, value } = await untilAborted(reader.read(), signal);
      ended = done;
      if (done) return;
      if (isRecord(value)) yield value;
    }
  } finally {
    if (!ended) void reader.cancel().catch(() => {}); // not awaited: a source that hangs would hang us too
  }
}

type Part = Readonly<Record<string, unknown>>;
type Block = TextPart | ReasoningPart;

/** Folds the parts of a stream into a message. */
class Answer {
  readonly #content: AssistantPart[] = [];
  readonly #blocks = new Map<string, Block>();
  readonly #inputs = new Map<string, { name: string; seen: boolean }>();
  readonly #name: string;
  #model: string;
  #responseId: string | undefined;
  #end: Part | undefined;

  constructor(name: string, model: string) {
    this.#name = name;
    this.#model = model;
  }

  push(part: Part): ModelEvent[] {
    const id = textIn(part, "id");
    switch (part["type"]) {
      case "response-metadata":
        this.#responseId = id || this.#responseId;
        this.#model = textIn(part, "modelId") || this.#model;
        return [];
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#addToBlock(id, "text", part);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#addToBlock(id, "reasoning", part);
      case "tool-input-start":
        if (part["providerExecuted"] !== true) this.#inputs.set(id, { name: textIn(part, "toolName"), seen: false });
        return [];
      case "tool-input-delta":
        return this.#addInput(id, textIn(part, "delta"));
      case "tool-call":
        return this.#call(part);
      case "tool-result":
        this.#keep({
          ...pick(part, ["toolCallId", "toolName"]),
          type: "tool-result",
          output: { type: "json", value: part["result"] },
        });
        return [];
      case "finish":
        this.#end = part;
        return [];
      case "error":
        throw part["error"];
      default:
        return []; // sources, files, raw chunks, and kinds that are invented later
    }
  }

  toMessage(): AssistantMessage {
    if (!this.#end) throw new RuntimeError("provider-unavailable", "The answer broke off before its end", { retryable: true });
    const { finish, stopReason } = toFinish(this.#end["finishReason"]);
    return {
      role: "assistant",
      content: this.#content.filter((part) => !isEmpty(part)),
      model: { provider: this.#name, id: this.#model },
      finish,
      ...(stopReason && { stopReason }),
      usage: toUsage(this.#end["usage"]),
      ...(this.#responseId && { responseId: this.#responseId }),
    };
  }

  /** Blocks may be interleaved, each keeps the place of its first part; an id may be used again after its end. */
  #addToBlock(id: string, type: Block["type"], part: Part): ModelEvent[] {
    const key = `${type} ${id}`;
    const block = this.#blocks.get(key) ?? this.#startBlock(key, type);
    Object.assign(block, metadataOf(part)); // signatures come with any of a block's parts; the last is the whole one
    if (part["type"] === `${type}-end`) this.#blocks.delete(key);
    const text = textIn(part, "delta");
    block.text += text;
    return text ? [{ type: `${type}.delta`, text }] : [];
  }

  #startBlock(key: string, type: Block["type"]): Block {
    const block: Block = { type, text: "" };
    this.#blocks.set(key, block);
    this.#content.push(block);
    return block;
  }

  #addInput(callId: string, json: string): ModelEvent[] {
    const input = this.#inputs.get(callId);
    if (!input || !json) return [];
    input.seen = true;
    return [{ type: "tool-input.delta", callId, name: input.name, json }];
  }

  #call(part: Part): ModelEvent[] {
    const callId = textIn(part, "toolCallId");
    const name = textIn(part, "toolName");
    const json = textIn(part, "input").trim() || "{}"; // a call without arguments may come with no text at all
    const input = parseJson(json);
    if (part["providerExecuted"] === true) {
      const options = isJsonObject(part["providerMetadata"]) ? { providerOptions: part["providerMetadata"] } : {};
      this.#keep({ type: "tool-call", toolCallId: callId, toolName: name, input, providerExecuted: true, ...options });
      return [];
    }
    this.#content.push({
      type: "tool-call",
      callId,
      name,
      input: isJsonObject(input) ? input : {},
      ...(!isJsonObject(input) && { malformedInput: json }),
      ...metadataOf(part),
    });
    return this.#inputs.get(callId)?.seen ? [] : [{ type: "tool-input.delta", callId, name, json }];
  }

  /** What the model's own tools did: nothing for us to do, but part of what was said. */
  #keep(part: Record<string, unknown>): void {
    this.#content.push({ type: "opaque", dialect: dialectId, value: toJson(part) });
  }
}

/** What has to come back with a part when the conversation goes on. */
function metadataOf(part: Part): { providerMetadata?: ProviderMetadata } {
  const metadata = part["providerMetadata"];
  return isJsonObject(metadata) ? { providerMetadata: { [dialectId]: metadata } } : {};
}

function isEmpty(part: AssistantPart): boolean {
  if (part.type === "text") return part.text === "";
  return part.type === "reasoning" && part.text === "" && part.providerMetadata === undefined;
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
};

/** A word in v2; since v3 that word together with the provider's own. */
function toFinish(reason: unknown): { finish: FinishReason; stopReason: string } {
  const unified = isRecord(reason) ? textIn(reason, "unified") : String(reason);
  const stopReason = isRecord(reason) ? textIn(reason, "raw") || unified : unified;
  return { finish: finishReasons[unified] ?? "other", stopReason };
}

/** Plain numbers in v2; since v3 totals with their shares. */
function toUsage(usage: unknown): Usage {
  if (!isRecord(usage)) return { ...noUsage };
  const { inputTokens: input, outputTokens: output } = usage;
  return {
    inputTokens: isRecord(input) ? numberIn(input, "total") : numberIn(usage, "inputTokens"),
    outputTokens: isRecord(output) ? numberIn(output, "total") : numberIn(usage, "outputTokens"),
    cacheReadTokens: isRecord(input) ? numberIn(input, "cacheRead") : numberIn(usage, "cachedInputTokens"),
    cacheWriteTokens: isRecord(input) ? numberIn(input, "cacheWrite") : 0,
    reasoningTokens: isRecord(output) ? numberIn(output, "reasoning") : numberIn(usage, "reasoningTokens"),
  };
}

/** The AI SDK's own errors carry the HTTP answer; others at least say whether trying again may help. */
function toError(thrown: unknown, provider: string): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = thrown instanceof Error ? thrown.message : typeof thrown === "string" ? thrown : JSON.stringify(thrown);
  const status = isRecord(thrown) ? thrown["statusCode"] : undefined;
  if (isRecord(thrown) && typeof status === "number") {
    const headers = isRecord(thrown["responseHeaders"]) ? thrown["responseHeaders"] : {};
    return toHttpError(
      { status, headers: textsIn(headers), body: textIn(thrown, "responseBody") || message, now: Date.now() },
      { provider, authHint: "Check the key the model was made with", isContextOverflow },
    );
  }
  const retryable = !isRecord(thrown) || thrown["isRetryable"] !== false;
  return new RuntimeError("provider-unavailable", `${provider} failed: ${message}`, { retryable, cause: thrown });
}

function isContextOverflow(message: string): boolean {
  return /context (length|window)|(prompt|input) is too long|maximum number of (input )?tokens/i.test(message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What cannot be written as JSON could not be stored either. */
function toJson(value: unknown): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value));
  return isJsonObject(copy) ? copy : {};
}

function pick(part: Part, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, part[name]]));
}

function textIn(part: Part, name: string): string {
  const value = part[name];
  return typeof value === "string" ? value : "";
}

function numberIn(part: Part, name: string): number {
  const value = part[name];
  return typeof value === "number" ? value : 0;
}

function textsIn(headers: Part): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
