import { type ModelMessage, type StreamUsage, toStreamUsage } from "./runnable-agent.ts";

/** What a run needs of a history; the rest is used where it is there. */
export interface MessageHistory {
  getMessagesForLLM(): ModelMessage[] | PromiseLike<ModelMessage[]>;
  addUserMessage(content: string, originalContent?: string): unknown;
  addModelMessages(messages: ModelMessage[]): unknown;
  getAll?(): unknown[];
  /** Told what a provider counted for the messages as they are. */
  updateActualUsage?(usage: StreamUsage & { updatedAt: Date }): void;
  getRecommendedMaxOutputTokens?(messages: ModelMessage[]): number | undefined;
  /** Full enough to be summarised before the next call. */
  needsCompaction?(): boolean;
  compact?(): Promise<CompactionReport>;
  snapshot?(): unknown;
  /** Grows with every change. */
  readonly revision?: number;
}

export type CompactionReport = { success: boolean; tokensBefore: number; tokensAfter: number; reason?: string };

export type HistoryCompaction = {
  /** Tokens that fit into one request. */
  readonly contextLimit: number;
  /** A summary of older messages. */
  summarizeFn(messages: readonly ModelMessage[], previousSummary?: string): Promise<string>;
  /** The share of the limit at which messages give way; 0.65 when absent. */
  readonly threshold?: number;
};

/** Messages in memory. With `compaction`, everything before the last prompt gives way to a summary when it gets too much. */
export class CheckpointHistory implements MessageHistory {
  readonly #compaction: HistoryCompaction | undefined;
  #messages: ModelMessage[] = [];
  #summary: string | undefined;
  #counted: { tokens: number; at: number } | undefined;
  #revision = 0;

  constructor(options: { compaction?: HistoryCompaction } = {}) {
    this.#compaction = options.compaction;
  }

  get revision(): number {
    return this.#revision;
  }

  getMessagesForLLM(): ModelMessage[] {
    return this.#summary === undefined ? [...this.#messages] : [summaryMessage(this.#summary), ...this.#messages];
  }

  getAll(): ModelMessage[] {
    return [...this.#messages];
  }

  /** `originalContent` is what a person typed; models get `content`. */
  addUserMessage(content: string, _originalContent?: string): void {
    this.addModelMessages([{ role: "user", content }]);
  }

  addModelMessages(messages: readonly ModelMessage[]): void {
    this.#revision++;
    this.#messages.push(...messages);
  }

  clear(): void {
    this.#revision++;
    this.#messages = [];
    this.#summary = undefined;
    this.#counted = undefined;
  }

  snapshot(): { messages: ModelMessage[]; summary?: string; revision: number } {
    const summary = this.#summary === undefined ? {} : { summary: this.#summary };
    return { messages: structuredClone(this.#messages), ...summary, revision: this.#revision };
  }

  updateActualUsage(usage: StreamUsage & { updatedAt?: Date }): void {
    const counts = toStreamUsage(usage);
    const tokens = counts?.totalTokens ?? (counts?.inputTokens ?? 0) + (counts?.outputTokens ?? 0);
    if (tokens > 0) this.#counted = { tokens, at: this.#messages.length };
  }

  getContextUsage(): { used: number; limit: number | undefined; source: "actual" | "estimated" } {
    const limit = this.#compaction?.contextLimit;
    if (!this.#counted) return { used: estimate(this.getMessagesForLLM()), limit, source: "estimated" };
    return { used: this.#counted.tokens + estimate(this.#messages.slice(this.#counted.at)), limit, source: "actual" };
  }

  needsCompaction(): boolean {
    if (!this.#compaction) return false;
    return this.getContextUsage().used >= this.#compaction.contextLimit * (this.#compaction.threshold ?? 0.65);
  }

  /** A call and its result stay together: the cut is before a prompt. */
  async compact(): Promise<CompactionReport> {
    const tokensBefore = this.getContextUsage().used;
    const unchanged = (reason: string): CompactionReport => ({ success: false, tokensBefore, tokensAfter: tokensBefore, reason });
    if (!this.#compaction) return unchanged("no summarizeFn");
    const cut = this.#messages.findLastIndex((message) => message.role === "user");
    if (cut <= 0) return unchanged("no messages to summarize");
    const { revision } = this;
    const summary = await this.#compaction.summarizeFn(this.#messages.slice(0, cut), this.#summary);
    if (revision !== this.#revision) return unchanged("the history changed meanwhile");
    this.#revision++;
    this.#summary = summary;
    this.#messages = this.#messages.slice(cut);
    this.#counted = undefined;
    return { success: true, tokensBefore, tokensAfter: this.getContextUsage().used };
  }
}

function summaryMessage(summary: string): ModelMessage {
  return { role: "user", content: `A summary of the conversation before this point:\n\n${summary}` };
}

/** Four characters make about a token. */
function estimate(messages: readonly ModelMessage[]): number {
  return Math.ceil(messages.reduce((length, { content }) => length + JSON.stringify(content ?? "").length, 0) / 4);
}
