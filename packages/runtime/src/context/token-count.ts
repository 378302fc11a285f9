import type { ModelRequest } from "../model/model.ts";
import type { Message, Usage } from "../protocol/content.ts";
import { estimateMessage, estimateMessages, estimateOverhead } from "./token-estimate.ts";

const minScale = 0.05;
const maxScale = 2;
/** Above, a count is not one of the words: something is in the request that we do not see. */
const maxRatio = 4;

/**
 * How many tokens the next request has: what the provider counted for the last answer, and an estimate of what came after it.
 * Answers from before a compaction counted another context and are not believed.
 */
export class TokenCount {
  /** Estimated tokens of the system prompt and the tools. */
  readonly overhead: number;
  #measuredFrom: number;
  #scale: number | undefined;
  #isOwnCount = false;

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
    if (!measured) return this.estimated(messages) * this.scale;
    const { index, usage } = measured;
    const ratio = usage.inputTokens / this.estimated(messages, index);
    this.#scale = Math.min(maxScale, Math.max(minScale, ratio));
    this.#isOwnCount = ratio < minScale || ratio > maxRatio;
    return usage.inputTokens + usage.outputTokens + estimateMessages(messages, index + 1) * this.scale;
  }

  /** The same without a look at what the provider has counted already, and never less: enough to see that there is room. */
  atMost(messages: readonly Message[]): number {
    const measured = lastMeasured(messages, this.#measuredFrom);
    if (!measured) return this.used(messages);
    const { index, usage } = measured;
    return usage.inputTokens + usage.outputTokens + estimateMessages(messages, index + 1) * maxScale;
  }

  /** By our guess alone, whatever the provider counts. */
  estimated(messages: readonly Message[], to: number = messages.length): number {
    return this.overhead + estimateMessages(messages, 0, to);
  }

  /**
   * To be compared with the guess of what is left after a compaction, so it is a guess of the same kind. Only where the provider's count
   * is nothing a tokenizer would make of these words is that count taken as it is.
   */
  comparable(messages: readonly Message[]): number {
    const used = this.used(messages);
    return this.#isOwnCount ? used : this.estimated(messages) * this.scale;
  }

  /** The first request after a restart, by the provider's count and by our guess; undefined until it was answered. */
  firstMeasured(messages: readonly Message[]): { readonly tokens: number; readonly estimated: number } | undefined {
    const first = messages.findIndex((message, index) => index >= this.#measuredFrom && usageOf(message) !== undefined);
    const usage = usageOf(messages[first]);
    return usage && { tokens: usage.inputTokens, estimated: this.estimated(messages, first) };
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
