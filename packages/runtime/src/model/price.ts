import type { Usage } from "../protocol/content.ts";

/** US dollars per million tokens. A share of the input or output without a rate of its own is charged like the rest of it. */
export type Rates = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** What is kept for an hour instead of the usual minutes. */
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  /** US dollars per thousand calls, on top of the tokens. */
  readonly request?: number;
};

export type Tariff = {
  readonly rates: Rates;
  /** The rates of the whole call once its input is larger than `above` tokens; the smallest border first. */
  readonly tiers?: readonly { readonly above: number; readonly rates: Rates }[];
  /** In force from this day on, `YYYY-MM-DD` in UTC. */
  readonly from?: string;
  /** In force between these seconds of the day, in UTC; the end may lie on the next day. */
  readonly daily?: readonly [start: number, end: number];
};

/** The last tariff that is in force counts; when none is, the first. */
export type Price = readonly [Tariff, ...Tariff[]];

/** Usage as most providers report it, and which share of the cache writes is kept for an hour where that is known. */
export type BilledUsage = Usage & { readonly cacheWrite1hTokens?: number };

/** US dollars, rounded to `addUsd`'s step; null when nobody knows the price. */
export function priceOf(facts: { readonly price: Price | null } | undefined, usage: BilledUsage, at: Date): number | null {
  if (!facts?.price) return null;
  const rates = ratesAt(facts.price, at, usage.inputTokens);
  const cacheWrite = rates.cacheWrite ?? rates.input;
  const long = Math.min(usage.cacheWrite1hTokens ?? 0, usage.cacheWriteTokens);
  const plainInput = Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens);
  const microUsd =
    plainInput * rates.input +
    usage.cacheReadTokens * (rates.cacheRead ?? rates.input) +
    (usage.cacheWriteTokens - long) * cacheWrite +
    long * (rates.cacheWrite1h ?? cacheWrite) +
    (usage.outputTokens - reasoning) * rates.output +
    reasoning * (rates.reasoning ?? rates.output) +
    1000 * (rates.request ?? 0);
  return Math.round(microUsd * 1e6) / picosPerUsd;
}

/** The rates of a call made at this time with an input of this size. */
export function ratesAt(price: Price, at: Date, inputTokens: number = 0): Rates {
  const tariff = price.findLast((candidate) => isInForce(candidate, at)) ?? price[0];
  return tariff.tiers?.findLast((tier) => inputTokens > tier.above)?.rates ?? tariff.rates;
}

function isInForce({ from, daily }: Tariff, at: Date): boolean {
  if (from !== undefined && at.getTime() < Date.parse(from)) return false;
  if (!daily) return true;
  const [start, end] = daily;
  const second = (at.getTime() % 86_400_000) / 1000;
  return start <= end ? second >= start && second < end : second >= start || second < end;
}

const picosPerUsd = 1e12;

/**
 * Amounts are multiples of a picodollar, a million of which is a dollar per million tokens, and are added as whole numbers:
 * a sum is the same in any order, up to about 2,000 dollars to the last digit.
 */
export function addUsd(a: number, b: number): number {
  return (Math.round(a * picosPerUsd) + Math.round(b * picosPerUsd)) / picosPerUsd;
}
