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
import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { defined } from "../../util/defined.ts";
import { dialectId, signatureIn, tokenField, groundingField } from "./gemini-parts.ts";
import { excerpt } from "../http-error.ts";
import { numberIn, stringIn } from "./json-fields.ts";
import { parsePayload, streamError } from "./gemini-errors.ts";
import { toBoundedJson, toBrokenInput } from "../../util/too-deep.ts";

export function createDecoder(request: ModelRequest, provider: string): Decoder {
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
  #grounding: JsonObject | undefined;

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
    if (isJsonObject(candidate[groundingField])) this.#grounding = candidate[groundingField];
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
    if (this.#grounding) this.#parts.push({ type: "opaque", dialect: dialectId, value: { [groundingField]: this.#grounding } });
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
    : { input: {}, malformedInput: typeof args === "string" ? args : toBrokenInput(args) };
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
