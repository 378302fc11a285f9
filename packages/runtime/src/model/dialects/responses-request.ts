import {
  type AssistantPart,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type Message,
  type TextPart,
  type ToolDefinition,
  type ToolResultPart,
  isJsonObject,
} from "../../protocol/content.ts";
import { type ModelRecord, findRecord } from "../capabilities/record.ts";
import type { ModelRequest } from "../model.ts";
import { type Tell, effortFor, fitEffort, fitOutput, fitTemperature } from "../capabilities/fit.ts";
import { createHash } from "node:crypto";
import { gptModels } from "../capabilities/gpt.ts";
import { pdfType } from "../../protocol/media.ts";
import { stringIn } from "./json-fields.ts";

export const dialectId = "openai-responses";

/** The API refuses a smaller limit. */
const minOutputTokens = 16;

export function encode(request: ModelRequest, tell: Tell = () => {}): JsonObject {
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
    input: request.messages.flatMap((message) => (isReadable(message, record) ? toItems(message) : withoutReasoning(message))),
    ...(request.tools.length > 0 && { tools: request.tools.map(toTool) }),
    ...(request.tools.length > 0 && record?.parallelCalls === false && { parallel_tool_calls: false }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: Math.max(minOutputTokens, maxOutputTokens) }),
    ...(warmth !== undefined && { temperature: warmth }),
    ...(effort && { reasoning: { effort, ...(thinks && { summary: "auto" }) } }),
    ...(outputSchema && { text: { format: { type: "json_schema", name: "answer", schema: outputSchema, strict: false } } }),
    store: false,
    ...(record?.sendBack !== "nothing" && { include: ["reasoning.encrypted_content"] }),
  };
  return { ...merge(body, request.options ?? {}), stream: true };
}

function gptRecord({ model, capabilities }: ModelRequest): ModelRecord | undefined {
  const record = findRecord(gptModels, model);
  return record && capabilities ? { ...record, ...capabilities } : record;
}

/** Encrypted reasoning is read by the model that made it. Names that no record knows may be other names of the same model. */
function isReadable(message: Message, record: ModelRecord | undefined): boolean {
  if (message.role !== "assistant" || !record) return true;
  if (record.sendBack === "nothing") return false;
  const other = findRecord(gptModels, message.model.id);
  return !other || other.id === record.id || Boolean(other.guessed ?? record.guessed);
}

function withoutReasoning(message: Message): readonly JsonObject[] {
  return toItems(message).filter(({ type }) => type !== "reasoning");
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
  if (parts.some((part) => part["type"] !== "input_text")) return parts;
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
