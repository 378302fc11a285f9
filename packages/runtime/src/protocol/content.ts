/** What people, models and tools say to each other. Plain JSON; no behaviour. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Opaque provider payload that must be handed back unchanged to the same dialect, keyed by dialect id. */
export type ProviderMetadata = Record<string, JsonValue>;

export type TextPart = { type: "text"; text: string; providerMetadata?: ProviderMetadata };
/** `data` is base64. A PDF document is one too, by its media type. With `url` it is elsewhere: `data` is empty, and the provider fetches it. */
export type ImagePart = { type: "image"; mediaType: string; data: string; url?: string };
export type ReasoningPart = { type: "reasoning"; text: string; providerMetadata?: ProviderMetadata };
export type ToolCallPart = {
  type: "tool-call";
  callId: string;
  name: string;
  input: unknown;
  /** The raw argument text when it was no JSON object (cut off, or broken); `input` is then `{}` and the call is refused. */
  malformedInput?: string;
  providerMetadata?: ProviderMetadata;
};
/** A block only its own dialect understands (server tools, redacted thinking): kept and sent back as it came. */
export type OpaquePart = { type: "opaque"; dialect: string; value: JsonValue };
export type ToolResultPart = {
  type: "tool-result";
  callId: string;
  name: string;
  content: (TextPart | ImagePart)[];
  isError: boolean;
};

/**
 * Where a part stands among messages: at `part` of a message, and at `item` of that when it is the result of a tool.
 * `seal`: only the sealed thinking in it is meant; its words or its call are not.
 */
export type PartPlace = { readonly message: number; readonly part: number; readonly item?: number; readonly seal?: true };

export type ToolDefinition = { name: string; description: string; inputSchema: JsonObject };

export type ModelRef = { provider: string; id: string };

/**
 * Why the model stopped. `length` is the output limit, `paused` asks to be continued as is,
 * `interrupted` is a message cut off by an abort: what had arrived is kept.
 */
export type FinishReason =
  | "stop"
  | "stop-sequence"
  | "length"
  | "tool-calls"
  | "paused"
  | "refusal"
  | "content-filter"
  | "context-overflow"
  | "interrupted"
  | "other";

/** `inputTokens` and `outputTokens` are whole totals; the other fields say which share of them was what. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
};

export type UserMessage = {
  role: "user";
  content: (TextPart | ImagePart)[];
  /** Put together by a program from what nobody typed: no command is looked for in it. */
  isVerbatim?: true;
};
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | OpaquePart;
export type AssistantMessage = {
  role: "assistant";
  content: AssistantPart[];
  /** The model that answered, which may differ from the one that was asked for. */
  model: ModelRef;
  finish: FinishReason;
  /** The provider's own word for `finish`, and the stop sequence that matched. */
  stopReason?: string;
  stopSequence?: string;
  usage: Usage;
  /** The provider's id of this answer. */
  responseId?: string;
  /** The provider's id of the HTTP request that was answered: what its support asks for. */
  requestId?: string;
};
export type ToolMessage = { role: "tool"; content: ToolResultPart[] };
export type Message = UserMessage | AssistantMessage | ToolMessage;

export const noUsage: Readonly<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  };
}

export function textOf(content: readonly { type: string }[]): string {
  let text = "";
  for (const part of content) if (isText(part)) text += part.text;
  return text;
}

export function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.content.filter((part): part is ToolCallPart => part.type === "tool-call");
}

export function userText(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(part: { type: string }): part is TextPart {
  return part.type === "text";
}
