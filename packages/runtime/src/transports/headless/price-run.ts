import type { CatalogOverride } from "../../model/catalog-override.ts";
import type { Ledger } from "../../model/ledger.ts";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";

/** What the calls of a run cost, and how large the windows of their models are. */
export type PricedRun = Ledger & { readonly windows: ReadonlyMap<string, number> };

/** Prices are looked up when a result is printed, not before. */
export async function priceCalls(
  calls: readonly AgentEvent<"message.ended" | "side-call.ended">[],
  override: CatalogOverride | undefined,
): Promise<PricedRun> {
  if (calls.length === 0) return { total: { ...noCosts }, models: [], windows: new Map() };
  const { addCall, catalogOf, emptyLedger, findBilledModel, toPricedCall } = await import("../../model/pricing.ts");
  const catalog = await catalogOf(override);
  const ledger = calls.map((call) => toPricedCall(catalog, call)).reduce(addCall, emptyLedger);
  const windows = ledger.models.flatMap(({ served, requested }) => {
    const window = findBilledModel(catalog, { provider: served.provider, served: served.id, requested })?.contextWindow;
    return window === undefined ? [] : [[served.id, window] as const];
  });
  return { ...ledger, windows: new Map(windows) };
}

const noCosts = { calls: 0, usage: noUsage, costUsd: 0, knownUsd: 0 };
