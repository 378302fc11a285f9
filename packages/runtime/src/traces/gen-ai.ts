import type { AssistantMessage, ModelRef, Usage } from "../protocol/content.ts";
import type { Attributes } from "./span.ts";

/** Names of the convention for providers that we call otherwise. */
const providerNames: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  gemma: "gcp.gemini",
  mistral: "mistral_ai",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};

export function providerAttributes({ provider, id }: ModelRef): Attributes {
  return { "gen_ai.provider.name": providerNames[provider] ?? provider, "gen_ai.request.model": id };
}

/** The convention counts as we do: what came from caches is part of the input, reasoning part of the output. */
export function usageAttributes(usage: Usage): Attributes {
  const some = (count: number): number | undefined => (count > 0 ? count : undefined);
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": some(usage.cacheReadTokens),
    "gen_ai.usage.cache_creation.input_tokens": some(usage.cacheWriteTokens),
    "gen_ai.usage.reasoning.output_tokens": some(usage.reasoningTokens),
  };
}

const finishReasons: Readonly<Partial<Record<AssistantMessage["finish"], string>>> = {
  "stop-sequence": "stop",
  "tool-calls": "tool_call",
  "content-filter": "content_filter",
  refusal: "content_filter",
};

export function finishReason(finish: AssistantMessage["finish"]): string {
  return finishReasons[finish] ?? finish.replaceAll("-", "_");
}

/** Longer values are cut: a trace is no place for whole files. */
const maxContent = 64 * 1024;

type MessagePart = { type: string; content?: unknown; id?: string; name?: string; arguments?: unknown; response?: unknown };

/** Messages as the convention writes them down. */
export function messageContent(role: "user" | "assistant", parts: readonly MessagePart[], finish?: string): string {
  return cut(JSON.stringify([{ role, parts, ...(finish !== undefined && { finish_reason: finish }) }]));
}

export function outputParts(content: AssistantMessage["content"]): MessagePart[] {
  return content.flatMap((part): MessagePart[] => {
    if (part.type === "text") return [{ type: "text", content: part.text }];
    if (part.type === "reasoning") return [{ type: "reasoning", content: part.text }];
    if (part.type === "tool-call") return [{ type: "tool_call", id: part.callId, name: part.name, arguments: part.input }];
    return [];
  });
}

export function cut(text: string): string {
  return text.length > maxContent ? `${text.slice(0, maxContent)}…` : text;
}
