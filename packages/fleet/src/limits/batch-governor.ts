import { setTimeout as delay } from "node:timers/promises";
import { RuntimeError } from "@outrider/runtime";
import type { Governor } from "./governor.ts";
import { RateLimits } from "./rate-limits.ts";
import { isSpent } from "./shared-limits.ts";

export type BatchLimits = {
  readonly maxBudgetUsd?: number | undefined;
  readonly rates?: RateLimits | undefined;
  /** What earlier processes have spent. */
  readonly spentUsd?: number | undefined;
};

/** The budget and the rates of one batch. No request is begun when the budget is spent: it is exceeded by the calls in flight at most. */
export class BatchGovernor implements Governor {
  readonly #maxBudgetUsd: number | undefined;
  readonly #rates: RateLimits;
  #spentUsd: number;

  constructor({ maxBudgetUsd, rates = new RateLimits(), spentUsd = 0 }: BatchLimits) {
    this.#maxBudgetUsd = maxBudgetUsd;
    this.#rates = rates;
    this.#spentUsd = spentUsd;
  }

  get spentUsd(): number {
    return this.#spentUsd;
  }

  get isSpent(): boolean {
    return isSpent({ maxBudgetUsd: this.#maxBudgetUsd, spentUsd: this.#spentUsd });
  }

  /** Others make the requests, and have counted. */
  spentElsewhere(usd: number): void {
    this.#spentUsd = usd;
  }

  async admit({ provider, tokens }: Parameters<Governor["admit"]>[0], signal: AbortSignal): Promise<void> {
    while (true) {
      signal.throwIfAborted();
      if (this.isSpent) throw budgetSpent();
      const waitMs = this.#rates.take(provider, tokens);
      if (waitMs === 0) return;
      await delay(Math.min(waitMs, 1_000), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  ended({ provider, tokens, usage, costUsd, told }: Parameters<Governor["ended"]>[0]): void {
    this.#spentUsd += costUsd ?? 0;
    this.#rates.ended(provider, tokens, usage && usage.inputTokens + usage.outputTokens);
    if (told) this.#rates.told(provider, told);
  }

  throttled(provider: string, waitMs: number): void {
    this.#rates.throttled(provider, waitMs);
  }
}

/** Told apart from limits of a session: the task goes on when there is more to spend. */
export const budgetWords = "The budget of the batch is spent";

export function budgetSpent(): RuntimeError {
  return new RuntimeError("limit-reached", budgetWords, { hint: "Go on with --resume and a higher --max-budget" });
}
