import type { CatalogOverride } from "../../model/catalog-override.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toModelUsages } from "../headless/claude-result.ts";
import { type PricedRun, RunLedger } from "../headless/price-run.ts";
import { type ModelCall, withoutWords } from "../headless/run-totals.ts";

/** What a session has taken so far, for a host that asks between results. Calls are priced when somebody asks. */
export class SessionSpending {
  readonly #ledger: RunLedger;
  #calls: ModelCall[] = [];
  #turnMs = 0;
  #modelMs = 0;

  constructor(override: CatalogOverride | undefined) {
    this.#ledger = new RunLedger(override);
  }

  apply(event: AgentEvent): void {
    if (event.type === "message.ended" || event.type === "side-call.ended") this.#calls.push(withoutWords(event));
    if (event.type !== "turn.ended" || event.taskId !== undefined) return;
    this.#turnMs += event.durationMs;
    this.#modelMs += event.modelDurationMs;
  }

  /** In the shape of the SDK's `usage`: nothing here knows plans and their limits. */
  async usage(): Promise<JsonObject> {
    const costs = await this.#costs();
    return {
      session: {
        total_cost_usd: costs.total.costUsd,
        total_api_duration_ms: this.#modelMs,
        total_duration_ms: this.#turnMs,
        total_lines_added: 0,
        total_lines_removed: 0,
        model_usage: toModelUsages(costs) as JsonObject, // made of JSON
      },
      subscription_type: null,
      rate_limits_available: false,
      rate_limits: null,
      behaviors: null,
    };
  }

  /** A few lines for a person. */
  async text(): Promise<string> {
    const { total, models } = await this.#costs();
    const cost = total.costUsd === null ? `at least ${inUsd(total.knownUsd)} (a price is not known)` : inUsd(total.costUsd);
    return [
      `Total cost:            ${cost}`,
      `Total duration (API):  ${inSeconds(this.#modelMs)}`,
      `Total duration (wall): ${inSeconds(this.#turnMs)}`,
      ...models.map(({ served, usage, costUsd }) => {
        const price = costUsd === null ? "price not known" : inUsd(costUsd);
        return `${served.id}: ${usage.inputTokens} input, ${usage.outputTokens} output, ${usage.cacheReadTokens} from the cache (${price})`;
      }),
    ].join("\n");
  }

  async #costs(): Promise<PricedRun> {
    const calls = this.#calls;
    this.#calls = [];
    return (await this.#ledger.add(calls)).all;
  }
}

function inUsd(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}
