import type { ModelRequest } from "../model/model.ts";
import type { Message, Usage } from "../protocol/content.ts";
import { estimateMessage, estimateMessages, estimateOverhead } from "./token-estimate.ts";

/**
 * How many tokens the next request has: what the provider counted for the last answer, and an estimate of what came after it.
 * Answers from before a compaction counted another context and are not believed.
 */
export class TokenCount {
  /** Estimated tokens of the system prompt and the tools. */
  readonly overhead: number;
  #measuredFrom: number;
  #scale: number | undefined;

  constructor(request: Pick<ModelRequest, "system" | "tools">, measuredFrom: number) {
    this.overhead = estimateOverhead(request);
    this.#measuredFrom = measuredFrom;
  }

  /** Real tokens per estimated one, as far as the provider has shown; within what tokenizers differ by. */
  get scale(): number {
    return this.#scale ?? 1;
  }

  /** The provider has counted at least once; before that everything is a guess. */
  get isProved(): boolean {
    return this.#scale !== undefined;
  }

  used(messages: readonly Message[]): number {
    const measured = lastMeasured(messages, this.#measuredFrom);
    if (!measured) return (this.overhead + estimateMessages(messages)) * this.scale;
    const { index, usage } = measured;
    const estimated = this.overhead + estimateMessages(messages, 0, index);
    this.#scale = Math.min(2, Math.max(0.05, usage.inputTokens / estimated));
    return usage.inputTokens + usage.outputTokens + estimateMessages(messages, index + 1) * this.scale;
  }

  /** What the first request after a restart was counted as; undefined until it was answered. */
  firstMeasured(messages: readonly Message[]): number | undefined {
    const first = messages.findIndex((message, index) => index >= this.#measuredFrom && usageOf(message) !== undefined);
    return usageOf(messages[first])?.inputTokens;
  }

  /** The messages are others now. */
  restart(messages: readonly Message[]): void {
    this.#measuredFrom = messages.length;
  }

  /** For an error that names what is too big. */
  parts(messages: readonly Message[], prompt: Message | undefined): { overhead: number; prompt: number; rest: number } {
    const own = prompt ? estimateMessage(prompt) : 0;
    const scaled = (tokens: number): number => Math.round(tokens * this.scale);
    return { overhead: scaled(this.overhead), prompt: scaled(own), rest: scaled(estimateMessages(messages) - own) };
  }
}

function lastMeasured(messages: readonly Message[], from: number): { index: number; usage: Usage } | undefined {
  for (let index = messages.length - 1; index >= from; index--) {
    const usage = usageOf(messages[index]);
    if (usage) return { index, usage };
  }
  return undefined;
}

/** Scripts and some local servers count nothing. */
function usageOf(message: Message | undefined): Usage | undefined {
  return message?.role === "assistant" && message.usage.inputTokens > 0 ? message.usage : undefined;
}
