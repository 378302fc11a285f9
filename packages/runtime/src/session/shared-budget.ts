import { estimateMessages, estimateOverhead } from "../context/token-estimate.ts";
import type { Budget } from "../engine/budget.ts";
import type { ModelEvent, ModelRequest, Provider } from "../model/model.ts";
import type { AssistantMessage } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";

/** A part of the budget that a running call may need. */
type Hold = { readonly usd: number };

export type Share = {
  readonly provider: Provider;
  readonly budget: Budget;
  /** Gives back what it holds; whoever waits goes on. */
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

  join(provider: Provider): Share {
    const budget = this.#budget;
    const mine = new Set<Hold>();
    const answered = new WeakMap<AssistantMessage, Hold>();
    const give = (hold: Hold): void => {
      mine.delete(hold);
      this.#release(hold);
    };
    return {
      provider: {
        ...provider,
        stream: (request, options) => this.#stream(provider, { request, options, mine, answered, give }),
      },
      budget: {
        ...budget,
        spend(message, requestedModel) {
          const verdict = budget.spend(message, requestedModel);
          const hold = answered.get(message);
          if (hold) give(hold); // only now: until it was booked, nobody else knew of it
          return verdict;
        },
      },
      leave: () => {
        for (const hold of [...mine]) give(hold);
      },
    };
  }

  async *#stream(provider: Provider, call: Call): AsyncGenerator<ModelEvent> {
    const hold = await this.#admit(this.#dearest(provider, call.request), call.options.signal);
    call.mine.add(hold);
    let isAnswered = false;
    try {
      for await (const event of provider.stream(call.request, call.options)) {
        if (event.type === "finished") {
          call.answered.set(event.message, hold);
          isAnswered = true;
        }
        yield event;
      }
    } finally {
      if (!isAnswered) call.give(hold);
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

  #dearest(provider: Provider, request: ModelRequest): number {
    const inputTokens = estimateOverhead(request) + estimateMessages(request.messages);
    const outputTokens = (request.maxOutputTokens ?? assumedOutputTokens) + (request.thinkingTokens ?? 0);
    const usage = { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: inputTokens, reasoningTokens: 0 };
    return this.#budget.price({ model: { provider: provider.name, id: request.model }, usage }, request.model) ?? 0;
  }
}

type Call = {
  readonly request: ModelRequest;
  readonly options: { readonly signal: AbortSignal };
  readonly mine: Set<Hold>;
  readonly answered: WeakMap<AssistantMessage, Hold>;
  readonly give: (hold: Hold) => void;
};
