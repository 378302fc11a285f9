import { inWordsOf } from "../protocol/media.ts";
import {
  type AssistantPart,
  type ImagePart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type ProviderMetadata,
  type TextPart,
  type ToolResultPart,
} from "../protocol/content.ts";
import type { ModelRequest } from "./model.ts";

export const dialectId = "ai-sdk";

export type AiSdkPrompt = AiSdkMessage[];
export type AiSdkMessage = { role: "system"; content: string } | { role: "user" | "assistant" | "tool"; content: AiSdkPart[] };
/** Parts differ between the versions of the specification; only models read them. */
export type AiSdkPart = { type: string } & JsonObject;

/** A conversation as the AI SDK's models take it. `version` is that of the model's specification. */
export function toPrompt({ system, messages }: Pick<ModelRequest, "system" | "messages">, version: string): AiSdkPrompt {
  const prompt: AiSdkPrompt = system.trim() ? [{ role: "system", content: system }] : [];
  for (const message of messages) {
    const content = toParts(message, version);
    if (content.length > 0) prompt.push({ role: message.role, content });
  }
  return prompt;
}

function toParts(message: Message, version: string): AiSdkPart[] {
  switch (message.role) {
    case "user":
      return message.content.filter(isWorthSaying).map((part) => (part.type === "text" ? toText(part) : toFile(part, version)));
    case "assistant":
      return message.content.flatMap(toAssistantPart);
    case "tool":
      return message.content.map((part) => toResult(part, version));
  }
}

function isWorthSaying(part: TextPart | ImagePart): boolean {
  return part.type !== "text" || part.text.trim() !== "";
}

function toText({ text }: TextPart): AiSdkPart {
  return { type: "text", text };
}

function toFile(part: ImagePart, version: string): AiSdkPart {
  if (part.url !== undefined) return { type: "text", text: inWordsOf(part) };
  const { mediaType, data } = part;
  return { type: "file", mediaType, data: version === "v4" ? { type: "data", data } : data };
}

function toAssistantPart(part: AssistantPart): AiSdkPart[] {
  switch (part.type) {
    case "text":
      return part.text.trim() ? [{ type: "text", text: part.text, ...optionsOf(part) }] : [];
    case "reasoning": {
      // Without its metadata it is another model's thinking, which no model takes as its own.
      const options = optionsOf(part);
      return options.providerOptions ? [{ type: "reasoning", text: part.text, ...options }] : [];
    }
    case "tool-call": {
      const input = isJsonObject(part.input) ? part.input : {};
      return [{ type: "tool-call", toolCallId: part.callId, toolName: part.name, input, ...optionsOf(part) }];
    }
    case "opaque": {
      const { dialect, value } = part;
      return dialect === dialectId && isPart(value) ? [value] : [];
    }
  }
}

function optionsOf({ providerMetadata }: { providerMetadata?: ProviderMetadata }): { providerOptions?: JsonObject } {
  const providerOptions = providerMetadata?.[dialectId];
  return isJsonObject(providerOptions) ? { providerOptions } : {};
}

function isPart(value: JsonValue): value is AiSdkPart {
  return isJsonObject(value) && typeof value["type"] === "string";
}

function toResult({ callId, name, content, isError }: ToolResultPart, version: string): AiSdkPart {
  return { type: "tool-result", toolCallId: callId, toolName: name, output: toOutput(content, isError, version) };
}

function toOutput(content: readonly (TextPart | ImagePart)[], isError: boolean, version: string): JsonObject {
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const hasImages = content.some((part) => part.type === "image");
  if (isError || !hasImages) return { type: isError ? "error-text" : "text", value: text || "(no output)" };
  const imageType = version === "v2" ? "media" : version === "v3" ? "image-data" : "file-data";
  const value = content.map(
    (part): JsonValue =>
      part.type === "text" ? { type: "text", text: part.text } : { type: imageType, data: part.data, mediaType: part.mediaType },
  );
  return { type: "content", value };
}
