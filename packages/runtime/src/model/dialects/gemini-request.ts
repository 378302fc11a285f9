import {
  type AssistantPart,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type Message,
  type TextPart,
  type ToolMessage,
  type ToolResultPart,
  isJsonObject,
  textOf,
} from "../../protocol/content.ts";
import type { Effort, ModelRequest, ToolDefinition } from "../model.ts";
import { type ModelRecord, findRecord } from "../capabilities/record.ts";
import { type Tell, effortFor, fitEffort, fitOutput, fitTemperature, isOff } from "../capabilities/fit.ts";
import { defined } from "../../util/defined.ts";
import { dialectId, metadataOf, signatureIn, tokenField, tokenOf, groundingField } from "./gemini-parts.ts";
import { geminiModels } from "../capabilities/gemini.ts";
import { tellUnseen } from "../capabilities/unseen.ts";
import { inWordsOf, pdfType } from "../../protocol/media.ts";
import { numberIn, stringIn } from "./json-fields.ts";
import { schemaInWords } from "./schema-in-words.ts";
import { toGeminiSchema } from "./gemini-schema.ts";

type Content = { role: "user" | "model"; parts: JsonObject[] };

export function encode(request: ModelRequest, tell: Tell = () => {}): JsonObject {
  const system = toSystem(request);
  const generationConfig = toGenerationConfig(request, tell);
  if (request.tools.length > 0 && geminiRecord(request)?.parallelCalls === false)
    tell("Gemini cannot be kept from calling several tools at once");
  tellUnseen(request, { images: true, pdf: geminiRecord(request)?.pdf !== false }, tell);
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
  const wanted = thinkingTokens ?? (effort === "xhigh" || effort === "max" ? most : effort && budgets[effort]);
  if (wanted === undefined) return undefined;
  const thinkingBudget = Math.min(Math.max(wanted, least), most);
  if (thinkingBudget !== wanted) tell(`${model} thinks with ${least} to ${most} tokens: it is asked with ${thinkingBudget}`);
  return { thinkingBudget, includeThoughts: thinkingBudget !== 0 };
}

/** What Google itself makes of these words for models that only take a number. */
const budgets: Readonly<Record<Exclude<Effort, "xhigh" | "max">, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
};

/** Roles must alternate and no content may be empty; responses answer their calls before anything else is said. */
function toContents(request: ModelRequest): Content[] {
  const { messages, model } = request;
  const contents: Content[] = [];
  const callIds = isBeforeGemini3(model) ? new Map<string, string>() : wireIdsIn(messages);
  const seesDocuments = geminiRecord(request)?.pdf ?? true;
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const parts = toParts(message, { callIds, seesDocuments });
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

/** `seesDocuments`: it reads PDFs, as Gemini does and Gemma does not. */
type Sending = { readonly callIds: ReadonlyMap<string, string>; readonly seesDocuments: boolean };

function toParts(message: Message, sending: Sending): JsonObject[] {
  switch (message.role) {
    case "user":
      return message.content.flatMap((part) => toContentParts(part, sending));
    case "assistant":
      return message.content.flatMap((part) => toModelParts(part, sending.callIds));
    case "tool":
      return toResponses(message, sending);
  }
}

function toContentParts(part: TextPart | ImagePart, { seesDocuments }: Sending): JsonObject[] {
  if (part.type === "text") return part.text ? [{ text: part.text }] : [];
  // Gemini looks at PNG, JPEG, WebP and PDF, refuses a request with a GIF in it, and fetches only what was uploaded to it.
  const isUnseen = part.mediaType === "image/gif" || (part.mediaType === pdfType && !seesDocuments);
  if (isUnseen || part.url !== undefined) return [{ text: inWordsOf(part) }];
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
      return part.dialect === dialectId && isJsonObject(part.value) && isSaid(part.value) ? [{ ...part.value }] : [];
  }
}

function isSaid(part: JsonObject): boolean {
  return !(tokenField in part || groundingField in part);
}

/** A signature belongs to the piece of text it came with, and must go back with that piece alone. */
function splitAtSignature(part: TextPart | (AssistantPart & { type: "reasoning" })): { unsigned: string; signed?: JsonObject } {
  const metadata = metadataOf(part);
  const signature = signatureIn(metadata);
  if (!("thoughtSignature" in signature)) return { unsigned: part.text };
  const from = numberIn(metadata, "signedFrom") ?? 0;
  return { unsigned: part.text.slice(0, from), signed: { text: part.text.slice(from), ...signature } };
}

function toResponses({ content }: ToolMessage, sending: Sending): JsonObject[] {
  const images = content.flatMap((result) => result.content.filter((part) => part.type === "image"));
  const shown = images.flatMap((part) => toContentParts(part, sending));
  return [...content.map((result) => toResponse(result, sending.callIds)), ...shown];
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
