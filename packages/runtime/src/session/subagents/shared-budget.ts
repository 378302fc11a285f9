import { estimateMessages, estimateOverhead } from "../../context/token-estimate.ts";
import type { Budget } from "../../model/budget.ts";
import type { MaskedRequest, ModelEvent } from "../../model/model.ts";
import type { CountedProvider } from "../../model/request-ledger.ts";
import { RuntimeError } from "../../protocol/errors.ts";

/** A part of the budget that a running call may need. */
type Hold = { readonly usd: number };

export type Share = {
  readonly provider: CountedProvider;
  /** Gives back what it holds; those who wait go on. */
  leave(): void;
};

/** What an answer is reckoned with when the request sets no limit. */
const assumedOutputTokens = 32_000;

/**
 * One budget for calls that are made at the same time. A call begins beside others only if the budget would pay for all of them at
 * their dearest, and else waits until it is the only one: together they never pass the limit by more than one call.
 */
export class SharedBudget {
  readonly #budget: Budget;
  readonly #holds = new Set<Hold>();
  #waiting: (() => void)[] = [];

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** What the provider's answers cost must be booked by the time they are here. */
  join(provider: CountedProvider): Share {
    const mine = new Set<Hold>();
    return {
      provider: { ...provider, stream: (request, options) => this.#stream(provider, { request, options, mine }) },
      leave: () => {
        for (const hold of mine) this.#release(hold);
      },
    };
  }

  async *#stream(provider: CountedProvider, { request, options, mine }: Call): AsyncGenerator<ModelEvent> {
    const hold = await this.#admit(this.#dearest(provider, request), options.signal);
    mine.add(hold);
    try {
      yield* provider.stream(request, options);
    } finally {
      mine.delete(hold);
      this.#release(hold);
    }
  }

  async #admit(usd: number, signal: AbortSignal): Promise<Hold> {
    while (true) {
      signal.throwIfAborted();
      if (this.#budget.exceeded()) throw new RuntimeError("limit-reached", "The budget of the session is spent");
      const held = [...this.#holds].reduce((sum, hold) => sum + hold.usd, 0);
      if (this.#holds.size === 0 || held + usd <= this.#budget.remainingUsd()) break;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const hold = { usd };
    this.#holds.add(hold);
    return hold;
  }

  #release(hold: Hold): void {
    this.#holds.delete(hold);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #dearest(provider: CountedProvider, request: MaskedRequest): number {
    const inputTokens = estimateOverhead(request) + estimateMessages(request.messages);
    const outputTokens = (request.maxOutputTokens ?? assumedOutputTokens) + (request.thinkingTokens ?? 0);
    const usage = { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: inputTokens, reasoningTokens: 0 };
    return this.#budget.price({ model: { provider: provider.name, id: request.model }, usage }, request.model) ?? 0;
  }
}

type Call = {
  readonly request: MaskedRequest;
  readonly options: { readonly signal: AbortSignal };
  readonly mine: Set<Hold>;
};
