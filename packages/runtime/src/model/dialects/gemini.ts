import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import { toBoundedJson } from "../../util/too-deep.ts";
import type { Decoder, Dialect } from "../dialect.ts";
import { excerpt, type HttpFailure, redact, toHttpError } from "../http-error.ts";
import type { Effort, ModelEvent, ModelRequest, ToolDefinition } from "../model.ts";
import { effortFor, fitEffort, fitOutput, fitTemperature, isOff, type Tell } from "../capabilities/fit.ts";
import { geminiModels } from "../capabilities/gemini.ts";
import { findRecord, type ModelRecord } from "../capabilities/record.ts";
import { CallNames } from "./call-names.ts";
import { toGeminiSchema } from "./gemini-schema.ts";
import { numberIn, parseJson, stringIn } from "./json-fields.ts";
import { schemaInWords } from "./schema-in-words.ts";
import { defined } from "../../util/defined.ts";
import {
  type AssistantMessage,
  type AssistantPart,
  type FinishReason,
  type ImagePart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type ProviderMetadata,
  type TextPart,
  type ToolMessage,
  type ToolResultPart,
  textOf,
  type Usage,
} from "../../protocol/content.ts";
import { inWordsOf } from "../../protocol/media.ts";

const dialectId = "gemini";

/** The wire format of Gemini's `streamGenerateContent` with `alt=sse`; the model's name is in the URL, not in the body. */
export const gemini: Dialect = { id: dialectId, nativeSchema: true, encode, decoder: createDecoder };

/** The typed failure behind an HTTP answer of this wire that is no 2xx. */
export function geminiHttpError(failure: HttpFailure): RuntimeError {
  const error = errorIn(failure.body);
  if (!error) return toHttpError(failure, words);
  const plain = toHttpError({ ...failure, body: JSON.stringify({ error: { message: error.message } }) }, words);
  const meaning = meaningOf(error, plain);
  return new RuntimeError(meaning.code, plain.message, { ...meaning, httpStatus: failure.status });
}

// ---------------------------------------------------------------------------------------------------- request

type Content = { role: "user" | "model"; parts: JsonObject[] };

function encode(request: ModelRequest, tell: Tell = () => {}): JsonObject {
  const system = toSystem(request);
  const generationConfig = toGenerationConfig(request, tell);
  if (request.tools.length > 0 && geminiRecord(request)?.parallelCalls === false)
    tell("Gemini cannot be kept from calling several tools at once");
  const { messages, continuationToken } = continued(request.messages);
  const body: JsonObject = {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents: toContents({ ...request, messages }),
    ...defined({ continuationToken }),
    ...(request.tools.length > 0 && { tools: [{ functionDeclarations: request.tools.map(toDeclaration) }] }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  };
  return withOptions(body, request.options ?? {});
}

/** An answer that the server stopped on its way goes on when its token comes with the same request as before: without what it has said so far. */
function continued(messages: readonly Message[]): { messages: readonly Message[]; continuationToken?: string } {
  const continuationToken = tokenOf(messages.at(-1));
  if (!continuationToken) return { messages };
  const first = messages.findLastIndex((message) => !tokenOf(message)) + 1;
  return { messages: messages.slice(0, first), continuationToken };
}

function tokenOf(message: Message | undefined): string | undefined {
  const last = message?.role === "assistant" && message.finish === "paused" ? message.content.at(-1) : undefined;
  if (last?.type !== "opaque" || last.dialect !== dialectId || !isJsonObject(last.value)) return undefined;
  return stringIn(last.value, tokenField) || undefined;
}

const tokenField = "continuationToken";

function geminiRecord({ model, capabilities }: Pick<ModelRequest, "model" | "capabilities">): ModelRecord | undefined {
  const record = findRecord(geminiModels, model);
  return record && capabilities ? { ...record, ...capabilities } : record;
}

/** Models before Gemini 3 know neither thinking levels nor ids of calls, and take no schema beside functions. */
function isBeforeGemini3(model: string): boolean {
  return /(^|\/)gemini-[12]\b/.test(model);
}

function takesSchema(request: ModelRequest): boolean {
  if (geminiRecord(request)?.nativeSchema === false) return false;
  return request.tools.length === 0 || !isBeforeGemini3(request.model);
}

function toSystem(request: ModelRequest): JsonObject[] {
  const { system, outputSchema } = request;
  const parts: JsonObject[] = system.trim() ? [{ text: system }] : [];
  if (outputSchema && !takesSchema(request)) {
    parts.push({ text: schemaInWords(outputSchema) });
  }
  return parts;
}

function toDeclaration({ name, description, inputSchema }: ToolDefinition): JsonObject {
  return { name, description, ...(!isEmptySchema(inputSchema) && { parametersJsonSchema: toGeminiSchema(inputSchema) }) };
}

/** A function without parameters is declared without a schema: the API does not take an object without properties everywhere. */
function isEmptySchema(schema: JsonObject): boolean {
  const { type, properties, required, additionalProperties, $schema, ...rest } = schema;
  const isEmpty = (value: JsonValue | undefined): boolean => value === undefined || Object.keys(value ?? {}).length === 0;
  return isEmpty(properties) && isEmpty(required) && isEmpty(rest) && (additionalProperties ?? false) === false;
}

function toGenerationConfig(request: ModelRequest, tell: Tell): JsonObject {
  const { stopSequences, outputSchema } = request;
  const record = geminiRecord(request);
  const thinkingConfig = toThinking(request, record, tell);
  const budget = Number(thinkingConfig?.["thinkingBudget"] ?? 0);
  const maxOutputTokens = fitOutput(request.maxOutputTokens, record, tell);
  const temperature = record ? fitTemperature(request, { record, thinks: true, tell }) : request.temperature;
  return {
    // The limit covers thinking too: a limit below the budget was meant for the answer alone.
    ...(maxOutputTokens !== undefined && {
      maxOutputTokens: maxOutputTokens > budget ? maxOutputTokens : budget + maxOutputTokens,
    }),
    ...defined({ temperature }),
    ...(stopSequences && stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
    ...defined({ thinkingConfig }),
    ...(outputSchema && takesSchema(request) && { responseMimeType: "application/json", responseJsonSchema: outputSchema }),
  };
}

/** The API refuses a level and a budget together: older models take a number of tokens, newer ones a word. */
function toThinking(request: ModelRequest, record: ModelRecord | undefined, tell: Tell): JsonObject | undefined {
  const { effort, thinkingTokens } = request;
  if (record?.budget) return toBudget(request, record.budget, tell);
  const level = record ? fitEffort(request, record, tell) : (effort ?? effortFor(thinkingTokens));
  return level ? { thinkingLevel: level.toUpperCase(), includeThoughts: !isOff(request) } : undefined;
}

function toBudget(
  { effort, thinkingTokens, model }: ModelRequest,
  [least, most]: readonly [number, number],
  tell: Tell,
): JsonObject | undefined {
  const wanted = thinkingTokens ?? (effort && budgets[effort]);
  if (wanted === undefined) return undefined;
  const thinkingBudget = Math.min(Math.max(wanted, least), most);
  if (thinkingBudget !== wanted) tell(`${model} thinks with ${least} to ${most} tokens: it is asked with ${thinkingBudget}`);
  return { thinkingBudget, includeThoughts: thinkingBudget !== 0 };
}

/** What Google itself makes of these words for models that only take a number. */
const budgets: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/** Roles must alternate and no content may be empty; responses answer their calls before anything else is said. */
function toContents(request: ModelRequest): Content[] {
  const { messages, model } = request;
  const contents: Content[] = [];
  const callIds = isBeforeGemini3(model) ? new Map<string, string>() : wireIdsIn(messages);
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const parts = toParts(message, callIds);
    if (parts.length === 0) continue;
    if (role === "model" && !isBeforeGemini3(model)) signFirstCall(parts);
    const last = contents.at(-1);
    if (last?.role === role) last.parts = responsesFirst([...last.parts, ...parts]);
    else contents.push({ role, parts });
  }
  // Newer models refuse a conversation that ends with their own words.
  if (contents.at(-1)?.role === "model" && geminiRecord(request)?.prefill === false)
    contents.push({ role: "user", parts: [{ text: "Go on." }] });
  return contents;
}

/** The ids the server gave its calls. Made-up ones stay here: several of Google's endpoints refuse the field. */
function wireIdsIn(messages: readonly Message[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const message of messages) {
    for (const part of message.role === "assistant" ? message.content : []) {
      if (part.type === "tool-call" && metadataOf(part)["id"]) ids.set(part.callId, stringIn(metadataOf(part), "id"));
    }
  }
  return ids;
}

/** Gemini 3 refuses an answer whose first call is not signed. This word stands in where another model made the call. */
function signFirstCall(parts: JsonObject[]): void {
  const call = parts.find((part) => "functionCall" in part);
  if (call) call["thoughtSignature"] ??= "skip_thought_signature_validator";
}

function responsesFirst(parts: JsonObject[]): JsonObject[] {
  const isResponse = (part: JsonObject): boolean => "functionResponse" in part;
  return [...parts.filter(isResponse), ...parts.filter((part) => !isResponse(part))];
}

function toParts(message: Message, callIds: ReadonlyMap<string, string>): JsonObject[] {
  switch (message.role) {
    case "user":
      return message.content.flatMap(toContentParts);
    case "assistant":
      return message.content.flatMap((part) => toModelParts(part, callIds));
    case "tool":
      return toResponses(message, callIds);
  }
}

function toContentParts(part: TextPart | ImagePart): JsonObject[] {
  if (part.type === "text") return part.text ? [{ text: part.text }] : [];
  // Gemini looks at PNG, JPEG, WebP and PDF, refuses a request with a GIF in it, and fetches only what was uploaded to it.
  if (part.mediaType === "image/gif" || part.url !== undefined) return [{ text: inWordsOf(part) }];
  return [{ inlineData: { mimeType: part.mediaType, data: part.data } }];
}

function toModelParts(part: AssistantPart, callIds: ReadonlyMap<string, string>): JsonObject[] {
  switch (part.type) {
    case "text": {
      const { unsigned, signed } = splitAtSignature(part);
      return [...(unsigned ? [{ text: unsigned }] : []), ...(signed ? [signed] : [])];
    }
    case "reasoning": {
      const { signed } = splitAtSignature(part);
      return signed ? [{ ...signed, thought: true }] : []; // without a signature the model does not read it
    }
    case "tool-call": {
      const id = callIds.get(part.callId);
      const functionCall = { ...(id && { id }), name: part.name, args: isJsonObject(part.input) ? part.input : {} };
      return [{ functionCall, ...signatureIn(metadataOf(part)) }];
    }
    case "opaque":
      return part.dialect === dialectId && isJsonObject(part.value) && !(tokenField in part.value) ? [{ ...part.value }] : [];
  }
}

/** A signature belongs to the piece of text it came with, and must go back with that piece alone. */
function splitAtSignature(part: TextPart | (AssistantPart & { type: "reasoning" })): { unsigned: string; signed?: JsonObject } {
  const metadata = metadataOf(part);
  const signature = signatureIn(metadata);
  if (!("thoughtSignature" in signature)) return { unsigned: part.text };
  const from = numberIn(metadata, "signedFrom") ?? 0;
  return { unsigned: part.text.slice(0, from), signed: { text: part.text.slice(from), ...signature } };
}

function toResponses({ content }: ToolMessage, callIds: ReadonlyMap<string, string>): JsonObject[] {
  const images = content.flatMap((result) => result.content.filter((part) => part.type === "image"));
  return [...content.map((result) => toResponse(result, callIds)), ...images.flatMap(toContentParts)];
}

function toResponse(result: ToolResultPart, callIds: ReadonlyMap<string, string>): JsonObject {
  const id = callIds.get(result.callId);
  const text = textOf(result.content) || (result.content.length > 0 ? "(attached as an image)" : "(no output)");
  return {
    functionResponse: { ...(id && { id }), name: result.name, response: { [result.isError ? "error" : "output"]: text } },
  };
}

/** Objects are merged field by field and tools are added to ours; anything else in the options replaces what we had. */
function withOptions(body: JsonObject, options: JsonObject): JsonObject {
  const merged = { ...body };
  for (const [name, value] of Object.entries(options)) {
    const ours = body[name];
    if (name === "tools" && Array.isArray(ours) && Array.isArray(value)) merged[name] = [...ours, ...value];
    else merged[name] = isJsonObject(ours) && isJsonObject(value) ? withOptions(ours, value) : value;
  }
  return merged;
}

function metadataOf(part: { providerMetadata?: ProviderMetadata }): JsonObject {
  const metadata = part.providerMetadata?.[dialectId];
  return isJsonObject(metadata) ? metadata : {};
}

function signatureIn(source: JsonObject): { thoughtSignature?: string } {
  const thoughtSignature = stringIn(source, "thoughtSignature");
  return thoughtSignature ? { thoughtSignature } : {};
}

// ----------------------------------------------------------------------------------------------------- answer

function createDecoder(request: ModelRequest, provider: string): Decoder {
  const answer = new Answer(request, provider);
  return { push: ({ data }) => answer.push(data), end: () => answer.end() };
}

class Answer {
  readonly #request: ModelRequest;
  readonly #provider: string;
  readonly #parts: AssistantPart[] = [];
  #usage: JsonObject = {};
  #callNames: CallNames | undefined;
  #responseId: string | undefined;
  #model: string;
  #finishReason: string | undefined;
  #blockReason: string | undefined;
  #token: string | undefined;

  constructor(request: ModelRequest, provider: string) {
    this.#request = request;
    this.#provider = provider;
    this.#model = request.model;
  }

  push(data: string): ModelEvent[] {
    if (data.trim() === "[DONE]") return []; // a gateway's habit
    const chunk = parsePayload(data);
    if (chunk["error"] !== undefined && chunk["error"] !== null) throw streamError(chunk["error"]);
    this.#responseId = stringIn(chunk, "responseId") || this.#responseId;
    this.#model = stringIn(chunk, "modelVersion") || this.#model;
    // Running totals, without the counts that are 0: a later one replaces the earlier.
    if (isJsonObject(chunk["usageMetadata"])) this.#usage = { ...this.#usage, ...chunk["usageMetadata"] };
    if (isJsonObject(chunk["promptFeedback"]))
      this.#blockReason = stringIn(chunk["promptFeedback"], "blockReason") || this.#blockReason;
    const candidate = candidateIn(chunk);
    const events = partsIn(candidate).flatMap((part) => this.#addPart(part));
    this.#token = stringIn(candidate, tokenField) || this.#token;
    this.#stop(candidate);
    return events;
  }

  /** Only the end of the body says that nothing more comes: gateways put a finish reason on earlier chunks too. */
  end(): ModelEvent[] {
    if (this.#finishReason === undefined && this.#blockReason === undefined) return [];
    return [{ type: "finished", message: this.#toMessage() }];
  }

  #addPart(part: JsonObject): ModelEvent[] {
    if (isJsonObject(part["functionCall"])) return this.#addCall(part["functionCall"], part);
    const { text, thought, thoughtSignature, ...rest } = part;
    if (typeof text === "string" || Object.keys(rest).length === 0) return this.#addText(part);
    this.#parts.push({ type: "opaque", dialect: dialectId, value: part });
    return [];
  }

  #addText(part: JsonObject): ModelEvent[] {
    const type = part["thought"] === true ? "reasoning" : "text";
    const text = stringIn(part, "text");
    const signature = signatureIn(part);
    if (!text && !("thoughtSignature" in signature)) return [];
    const run = this.#openRun(type);
    if ("thoughtSignature" in signature) {
      const signedFrom = run.text.length;
      run.providerMetadata = { [dialectId]: { ...signature, ...(signedFrom > 0 && { signedFrom }) } };
    }
    run.text += text;
    return text ? [{ type: `${type}.delta`, text }] : [];
  }

  /** The text that may still grow: a signature closes it. */
  #openRun(type: "text" | "reasoning"): AssistantPart & { type: "text" | "reasoning" } {
    const last = this.#parts.at(-1);
    if (last?.type === type && !last.providerMetadata) return last;
    const run: AssistantPart & { type: "text" | "reasoning" } = { type, text: "" };
    this.#parts.push(run);
    return run;
  }

  #addCall(call: JsonObject, part: JsonObject): ModelEvent[] {
    const id = stringIn(call, "id");
    const callId = this.#uniqueId(id);
    const name = stringIn(call, "name");
    const { input, malformedInput } = toInput(call["args"]);
    const metadata = { ...(id && callId === id && { id }), ...signatureIn(part) };
    this.#parts.push({
      type: "tool-call",
      callId,
      name,
      input,
      ...defined({ malformedInput }),
      ...(Object.keys(metadata).length > 0 && { providerMetadata: { [dialectId]: metadata } }),
    });
    return [{ type: "tool-input.delta", callId, name, json: malformedInput ?? toBoundedJson(input) }];
  }

  #uniqueId(id: string): string {
    const { messages } = this.#request;
    this.#callNames ??= new CallNames(messages);
    return this.#callNames.take(id, `call_${this.#responseId ?? messages.length}_${this.#parts.length}`);
  }

  #stop(candidate: JsonObject): void {
    const reason = stringIn(candidate, "finishReason");
    if (!reason) return;
    const failure = failures[reason];
    if (!failure) {
      this.#finishReason = reason;
      return;
    }
    const said = excerpt(stringIn(candidate, "finishMessage"));
    throw new RuntimeError(failure.code, `${failure.words} (${reason})${said ? `: ${said}` : ""}`, {
      retryable: failure.retryable,
    });
  }

  #toMessage(): AssistantMessage {
    const stopReason = this.#blockReason ?? this.#finishReason;
    const finish = this.#toFinish();
    if (finish === "paused") this.#parts.push({ type: "opaque", dialect: dialectId, value: { [tokenField]: this.#token ?? "" } });
    return {
      role: "assistant",
      content: this.#parts,
      model: { provider: this.#provider, id: this.#model },
      finish,
      ...defined({ stopReason }),
      usage: toUsage(this.#usage),
      ...defined({ responseId: this.#responseId }),
    };
  }

  /** This wire has no reason of its own for calls: they come with STOP. */
  #toFinish(): FinishReason {
    if (this.#blockReason !== undefined) return "content-filter";
    const finish = finishReasons[this.#finishReason ?? ""] ?? "other";
    const hasCalls = this.#parts.some((part) => part.type === "tool-call");
    if (hasCalls && (finish === "stop" || finish === "other")) return "tool-calls";
    return this.#finishReason === "CONTINUATION" && this.#token && !hasCalls ? "paused" : finish;
  }
}

function parsePayload(data: string): JsonObject {
  const payload = parseJson(data);
  if (isJsonObject(payload)) return payload;
  throw new RuntimeError("provider-protocol", `A piece of Gemini's stream is no JSON object: ${excerpt(data)}`, {
    retryable: true,
  });
}

/** Options may ask for several candidates; the first is the answer. */
function candidateIn(chunk: JsonObject): JsonObject {
  const candidates = Array.isArray(chunk["candidates"]) ? chunk["candidates"].filter(isJsonObject) : [];
  return candidates.find((candidate) => (candidate["index"] ?? 0) === 0) ?? {};
}

function partsIn(candidate: JsonObject): JsonObject[] {
  const content = isJsonObject(candidate["content"]) ? candidate["content"] : {};
  return Array.isArray(content["parts"]) ? content["parts"].filter(isJsonObject) : [];
}

function toInput(args: JsonValue | undefined): { input: JsonObject; malformedInput?: string } {
  if (args === undefined || args === null) return { input: {} };
  return isJsonObject(args)
    ? { input: args }
    : { input: {}, malformedInput: typeof args === "string" ? args : toBoundedJson(args) };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  MODEL_ARMOR: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_RECITATION: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
};

type Failure = { code: ErrorCode; retryable: boolean; words: string };
const brokenCall: Failure = { code: "provider-protocol", retryable: true, words: "Gemini made a call that cannot be read" };

/** Ends that leave nothing to go on with. */
const failures: Readonly<Record<string, Failure>> = {
  MALFORMED_FUNCTION_CALL: brokenCall,
  UNEXPECTED_TOOL_CALL: brokenCall,
  MALFORMED_RESPONSE: { ...brokenCall, words: "Gemini gave an answer that cannot be read" },
  MISSING_THOUGHT_SIGNATURE: {
    code: "provider-bad-request",
    retryable: false,
    words: "Gemini misses the signature of one of its thoughts in the conversation",
  },
};

function toUsage(counts: JsonObject): Usage {
  const count = (name: string): number => numberIn(counts, name) ?? 0;
  return {
    inputTokens: count("promptTokenCount") + count("toolUsePromptTokenCount"),
    outputTokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    cacheReadTokens: count("cachedContentTokenCount"),
    cacheWriteTokens: 0,
    reasoningTokens: count("thoughtsTokenCount"),
  };
}

// ----------------------------------------------------------------------------------------------------- errors

const words = {
  provider: "Gemini",
  authHint: "Check GEMINI_API_KEY, and the base URL if you use a gateway",
  /** The API has no code for it, only these words. */
  isContextOverflow: (message: string): boolean =>
    /token count[^.]*(exceeds|supports up to)|exceeds the maximum number of (input )?tokens/i.test(message),
};

/** A `google.rpc.Status`: `status` is the name of a code, `details` are typed by their `@type`. */
type WireError = { code: number | undefined; status: string; message: string; details: JsonObject[] };

/** Without `alt=sse` the API wraps its object into a list. */
function errorIn(body: string): WireError | undefined {
  const parsed = parseJson(body);
  const payload = Array.isArray(parsed) ? parsed[0] : parsed;
  return isJsonObject(payload) && isJsonObject(payload["error"]) ? toWireError(payload["error"]) : undefined;
}

function toWireError(error: JsonValue): WireError {
  if (!isJsonObject(error)) return { code: undefined, status: "", message: String(error), details: [] };
  return {
    code: numberIn(error, "code"),
    status: stringIn(error, "status"),
    message: stringIn(error, "message"),
    details: Array.isArray(error["details"]) ? error["details"].filter(isJsonObject) : [],
  };
}

/** An error the server reports after it had begun to answer. */
function streamError(value: JsonValue): RuntimeError {
  const error = toWireError(value);
  const status = error.code !== undefined && error.code >= 400 ? error.code : 500;
  const plain = toHttpError({ status, headers: {}, body: JSON.stringify({ error: { message: error.message } }), now: 0 }, words);
  const meaning = meaningOf(error, plain);
  const name = error.status || `error ${error.code ?? "without a name"}`;
  const message = `Gemini broke off its answer with ${name}${error.message ? `: ${redact(error.message)}` : ""}`;
  return new RuntimeError(meaning.code, message, meaning);
}

type Meaning = { code: ErrorCode; retryable: boolean; hint?: string; retryAfterMs?: number };
const auth: Meaning = { code: "provider-auth", retryable: false, hint: words.authHint };

const meanings: Readonly<Record<string, Meaning>> = {
  UNAUTHENTICATED: auth,
  PERMISSION_DENIED: auth,
  RESOURCE_EXHAUSTED: { code: "provider-rate-limit", retryable: true },
  UNAVAILABLE: { code: "provider-overloaded", retryable: true },
  DEADLINE_EXCEEDED: { code: "provider-timeout", retryable: true },
  INTERNAL: { code: "provider-unavailable", retryable: true },
};

/** What the error says in its own words; `plain` is what its number alone says. */
function meaningOf({ status, details }: WireError, plain: RuntimeError): Meaning {
  if (details.some((detail) => detail["reason"] === "API_KEY_INVALID")) return auth; // comes as 400, INVALID_ARGUMENT
  if (details.some(isDailyQuota)) {
    return { code: "provider-rate-limit", retryable: false, hint: "The quota of the day is used up: use another model or key" };
  }
  const { code, retryable, hint, retryAfterMs } = plain;
  const meaning = meanings[status] ?? { code, retryable, ...defined({ hint }) };
  const wait = retryDelayIn(details) ?? retryAfterMs;
  return meaning.retryable && wait !== undefined ? { ...meaning, retryAfterMs: wait } : meaning;
}

/** The delay named beside it is that of the quota per minute: trying again soon does not help. */
function isDailyQuota(detail: JsonObject): boolean {
  const violations = Array.isArray(detail["violations"]) ? detail["violations"].filter(isJsonObject) : [];
  return violations.some((violation) => /PerDay/i.test(stringIn(violation, "quotaId")));
}

function retryDelayIn(details: readonly JsonObject[]): number | undefined {
  const seconds = details.map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(stringIn(detail, "retryDelay"))?.[1]).find(Boolean);
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}
