import type { CatalogOverride } from "../../model/catalog-override.ts";
import type { Ledger } from "../../model/ledger.ts";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";

/** What the calls of a run cost, and how much their models take and give. */
export type PricedRun = Ledger & { readonly limits: ReadonlyMap<string, ModelLimits> };
export type ModelLimits = { readonly contextWindow?: number; readonly maxOutputTokens?: number };

/** Prices are looked up when a result is printed, not before. */
export async function priceCalls(
  calls: readonly AgentEvent<"message.ended" | "side-call.ended">[],
  override: CatalogOverride | undefined,
): Promise<PricedRun> {
  if (calls.length === 0) return { total: { ...noCosts }, models: [], limits: new Map() };
  const { addCall, catalogOf, emptyLedger, findBilledModel, toPricedCall } = await import("../../model/pricing.ts");
  const catalog = await catalogOf(override);
  const ledger = calls.map((call) => toPricedCall(catalog, call)).reduce(addCall, emptyLedger);
  const limits = ledger.models.flatMap(({ served, requested }) => {
    const facts = findBilledModel(catalog, { provider: served.provider, served: served.id, requested });
    return facts ? [[served.id, facts] as const] : [];
  });
  return { ...ledger, limits: new Map(limits) };
}

const noCosts = { calls: 0, usage: noUsage, costUsd: 0, knownUsd: 0 };
