import { addUsd } from "../../../model/price.ts";
import type { Usage } from "../../../protocol/content.ts";
import type { Extra, FinalMetrics, Step } from "../atif.ts";

/** What the calls of a run used and cost beyond what its steps say. */
export class Totals {
  #costUsd: number | null = 0;
  #paidCalls = 0;
  #sideCalls = 0;
  #sideTokens = { prompt: 0, completion: 0, cached: 0 };

  addCost(usage: Usage, costUsd: number | null): void {
    if (usage.inputTokens === 0 && usage.outputTokens === 0) return; // nobody counted
    this.#paidCalls++;
    this.#costUsd = this.#costUsd === null || costUsd === null ? null : addUsd(this.#costUsd, costUsd);
  }

  addSideCall(usage: Usage, costUsd: number | null): void {
    this.addCost(usage, costUsd);
    this.#sideCalls++;
    this.#sideTokens.prompt += usage.inputTokens;
    this.#sideTokens.completion += usage.outputTokens;
    this.#sideTokens.cached += usage.cacheReadTokens;
  }

  /** Token totals are the sum of the steps, as readers of the format check; the cost is that of everything. */
  toFinalMetrics(steps: readonly Step[], subagents: readonly FinalMetrics[]): FinalMetrics {
    const own = steps.filter((step) => step.is_copied_context !== true);
    const costs = [this.#paidCalls > 0 ? this.#costUsd : undefined, ...subagents.map(costOf)].filter(
      (cost) => cost !== undefined,
    );
    const sum = costs.reduce<number | null>((a, b) => (a === null || b === null ? null : addUsd(a, b)), 0);
    const extra: Extra = {
      ...(this.#sideCalls > 0 && {
        side_calls: {
          count: this.#sideCalls,
          prompt_tokens: this.#sideTokens.prompt,
          completion_tokens: this.#sideTokens.completion,
          cached_tokens: this.#sideTokens.cached,
        },
      }),
    };
    return {
      total_prompt_tokens: sumOf(own, (step) => step.metrics?.prompt_tokens),
      total_completion_tokens: sumOf(own, (step) => step.metrics?.completion_tokens),
      total_cached_tokens: sumOf(own, (step) => step.metrics?.cached_tokens),
      total_cost_usd: costs.length === 0 ? null : sum,
      total_steps: steps.length,
      ...(Object.keys(extra).length > 0 && { extra }),
    };
  }
}

/** Undefined for a subagent that used nothing: it makes no sum unknown. */
function costOf(metrics: FinalMetrics): number | null | undefined {
  return metrics.total_prompt_tokens === null ? undefined : metrics.total_cost_usd;
}

/** Null when no step says anything. */
function sumOf(steps: readonly Step[], value: (step: Step) => number | undefined): number | null {
  const values = steps.flatMap((step) => value(step) ?? []);
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
}
