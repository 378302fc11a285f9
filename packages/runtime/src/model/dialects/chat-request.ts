import {
  type AssistantMessage,
  type ImagePart,
  type JsonObject,
  type Message,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
  type ToolDefinition,
  type ToolResultPart,
  callsOf,
  isJsonObject,
  textOf,
} from "../../protocol/content.ts";
import { type ModelRecord, withoutLong } from "../capabilities/record.ts";
import type { ModelRequest } from "../model.ts";
import { type Tell, fitOutput, fitStops, fitTemperature } from "../capabilities/fit.ts";
import { type Wire, dialectId } from "./chat-wire.ts";
import { chatEffort, plainEffort } from "./chat-effort.ts";
import { createHash } from "node:crypto";
import { defined } from "../../util/defined.ts";
import { fitsStrictMode } from "./strict-schema.ts";
import { inWordsOf, pdfType } from "../../protocol/media.ts";
import { tellUnseen } from "../capabilities/unseen.ts";
import { listIn, objectIn } from "./json-fields.ts";

/** What was made of a message or a result: neither ever changes, and who writes the body relies on getting the same objects again. */
type Made = WeakMap<object, readonly JsonObject[]>;

/** How requests for one kind of model are written. */
export type Encoding = { readonly wire: Wire; readonly made: Made; readonly record: ModelRecord | undefined };

export function encode(request: ModelRequest, { wire, made, record }: Encoding, tell: Tell): JsonObject {
  const { tools, outputSchema } = request;
  const maxOutputTokens = fitOutput(request.maxOutputTokens, record, tell);
  const stops = fitStops(request, record, tell);
  tellUnseen(request, wire, tell);
  const effort = record ? chatEffort(request, { record, wire, tell }) : plainEffort(request, wire);
  const thinks = record?.usualEffort ? effort["reasoning_effort"] !== "none" : Object.keys(effort).length > 0;
  const temperature = record ? fitTemperature(request, { record, thinks, tell }) : request.temperature;
  return {
    model: withoutLong(request.model),
    messages: toMessages(request, wire, made),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(tools.length > 0 && wire.parallelToolCalls !== undefined && { parallel_tool_calls: wire.parallelToolCalls }),
    ...(tools.length > 0 && record?.parallelCalls === false && { parallel_tool_calls: false }),
    ...(maxOutputTokens !== undefined && { [wire.maxTokensField]: maxOutputTokens }),
    ...defined({ temperature }),
    ...(stops.length > 0 && { stop: stops }),
    ...(outputSchema && wire.nativeSchema && { response_format: toResponseFormat(outputSchema) }),
    ...effort,
    ...(wire.marksCacheOf?.test(request.model) && { cache_control: { type: "ephemeral" } }),
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
