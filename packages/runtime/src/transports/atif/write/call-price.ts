import type { CatalogOverride } from "../../../model/catalog-override.ts";
import type { BilledCall } from "../../../model/ledger.ts";

/** What an answer cost in US dollars; null when nobody knows its price. */
export type CallPrice = (call: BilledCall) => number | null;

/** Prices are loaded here, before they are needed, so that what is written with them can be written at once. */
export async function loadCallPrice(override?: CatalogOverride): Promise<CallPrice> {
  const { catalogOf, toPricedCall } = await import("../../../model/pricing.ts");
  const catalog = await catalogOf(override);
  return (call) => toPricedCall(catalog, call).costUsd;
}
