import type { Message } from "../protocol/content.ts";
import { estimateMessages } from "./token-estimate.ts";

export type CutOptions = {
  /** At most so many tokens of recent messages stay as they are. */
  readonly keepTokens: number;
  /** The last exchange stays up to this size, also above `keepTokens`. */
  readonly lastTokens: number;
  /** Where the last prompt stands: it stays in any case, and never counts as something to summarise. */
  readonly prompt: number | undefined;
  /** The first message is the summary of an earlier compaction. */
  readonly hasSummary: boolean;
  /** Rather keep nothing recent than replace nothing. */
  readonly force: boolean;
};

/**
 * How many messages from the start give way to a summary; 0 when there is nothing worth it.
 * What stays begins with a user's or the model's message, so that no call is parted from its results,
 * and is at most half of all, so that a compaction always gains something.
 */
export function chooseCut(messages: readonly Message[], options: CutOptions): number {
  const starts = exchangeStarts(messages);
  const keepTokens = Math.min(options.keepTokens, estimateMessages(messages) / 2);
  let cut = messages.length;
  let kept = 0;
  for (const start of starts.toReversed()) {
    const size = estimateMessages(messages, start, cut);
    const fits = cut === messages.length ? size <= Math.max(keepTokens, options.lastTokens) : kept + size <= keepTokens;
    if (!fits) break;
    kept += size;
    cut = start;
  }
  if (isWorthwhile(cut, options)) return cut;
  return options.force && isWorthwhile(messages.length, options) ? messages.length : 0;
}

function exchangeStarts(messages: readonly Message[]): number[] {
  return messages.flatMap((message, index) => (message.role === "tool" ? [] : [index]));
}

/** Neither the prompt nor the summary of an earlier compaction alone is anything to summarise. */
function isWorthwhile(cut: number, { prompt, hasSummary }: CutOptions): boolean {
  const staying = (prompt !== undefined && prompt < cut ? 1 : 0) + (hasSummary && cut > 0 ? 1 : 0);
  return cut > staying;
}
