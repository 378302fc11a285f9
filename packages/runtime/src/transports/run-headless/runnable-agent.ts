/** A message in the form of the AI SDK. */
export type ModelMessage = { role: string; content: unknown };

/** What a turn is asked with; `onBeforeTurn` may add to it or change it. */
export type AgentStreamOptions = {
  messages: ModelMessage[];
  abortSignal?: AbortSignal;
  maxOutputTokens?: number;
  system?: string;
  [option: string]: unknown;
};

/** One streamed answer, as `streamText` of the AI SDK gives it: parts as they come, and promises of what they add up to. */
export type AgentStreamResult = {
  readonly fullStream: AsyncIterable<unknown>;
  readonly finishReason: PromiseLike<string>;
  readonly response: PromiseLike<{ messages: ModelMessage[] }>;
  readonly usage?: PromiseLike<unknown>;
};

/** Something that answers one call at a time and runs its tools inside of it. */
export interface RunnableAgent {
  stream(options: AgentStreamOptions): AgentStreamResult | PromiseLike<AgentStreamResult>;
}

export type StreamUsage = {
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  cachedTokens?: number;
  costUsd?: number;
};

/** Usage by any of the names it goes by; undefined when nothing was counted. */
export function toStreamUsage(value: unknown): StreamUsage | undefined {
  const numbers = {
    inputTokens: numberIn(value, "inputTokens") ?? numberIn(value, "promptTokens"),
    outputTokens: numberIn(value, "outputTokens") ?? numberIn(value, "completionTokens"),
    totalTokens: numberIn(value, "totalTokens"),
    cachedTokens: numberIn(value, "cachedInputTokens") ?? numberIn(fieldIn(value, "inputTokenDetails"), "cacheReadTokens"),
    costUsd: numberIn(value, "costUsd"),
  };
  const known = Object.entries(numbers).filter(([, number]) => number !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

export function fieldIn(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function numberIn(value: unknown, name: string): number | undefined {
  const number = fieldIn(value, name);
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
