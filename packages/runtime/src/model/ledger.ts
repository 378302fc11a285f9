import { addUsage, type AssistantMessage, noUsage, type ModelRef, type Usage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { type Catalog, findBilledModel } from "./catalog.ts";
import { addUsd, priceOf } from "./price.ts";

/** One answer of a model, with what it cost: null when the price is unknown. */
export type PricedCall = {
  readonly served: ModelRef;
  readonly requested: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
};

export type Costs = {
  readonly calls: number;
  readonly usage: Usage;
  /** Null as soon as the price of one call is unknown: no sum is better than one that is too small. */
  readonly costUsd: number | null;
  /** The sum of the calls whose price is known. */
  readonly knownUsd: number;
};

/** What was asked for, what answered, and what that cost. */
export type ModelCosts = Costs & { readonly served: ModelRef; readonly requested: string };

/** The same for the same calls in any order: `models` is sorted by provider, served and requested model. */
export type Ledger = { readonly total: Costs; readonly models: readonly ModelCosts[] };

const noCosts: Costs = { calls: 0, usage: noUsage, costUsd: 0, knownUsd: 0 };

export const emptyLedger: Ledger = { total: noCosts, models: [] };

export function addCall(ledger: Ledger, call: PricedCall): Ledger {
  const { served, requested } = call;
  const key = keyOf(call);
  const before = ledger.models.find((line) => keyOf(line) === key) ?? { ...noCosts, served, requested };
  const others = ledger.models.filter((line) => line !== before);
  const models = [...others, { ...before, ...addCosts(before, call) }].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { total: addCosts(ledger.total, call), models };
}

/** All of an answer that its price depends on. */
export type BilledCall = Pick<AgentEvent<"message.ended">, "at" | "requestedModel"> & {
  readonly message: Pick<AssistantMessage, "model" | "usage">;
};

/** Prices an answer at the time it was given. */
export function toPricedCall(catalog: Catalog, event: BilledCall): PricedCall {
  const { model: served, usage } = event.message;
  const requested = event.requestedModel;
  const facts = findBilledModel(catalog, { provider: served.provider, served: served.id, requested });
  return { served, requested, usage, costUsd: priceOf(facts, usage, new Date(event.at)) };
}

function addCosts(costs: Costs, { usage, costUsd }: PricedCall): Costs {
  return {
    calls: costs.calls + 1,
    usage: addUsage(costs.usage, usage),
    costUsd: costs.costUsd === null || costUsd === null ? null : addUsd(costs.costUsd, costUsd),
    knownUsd: addUsd(costs.knownUsd, costUsd ?? 0),
  };
}

function keyOf({ served, requested }: Pick<PricedCall, "served" | "requested">): string {
  return JSON.stringify([served.provider, served.id, requested]);
}
