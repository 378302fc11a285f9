import { type Catalog, loadCatalog, withOverride } from "./catalog.ts";
import type { CatalogOverride } from "./catalog-override.ts";

/** Everything prices need, in one file to load when they are wanted. */
export { findBilledModel, listModels } from "./catalog.ts";
export { addCall, toPricedCall } from "./ledger.ts";
export { priceOf, ratesAt } from "./price.ts";

export async function catalogOf(override: CatalogOverride | undefined): Promise<Catalog> {
  // Where not even a file can be opened any more, the run still has its result: of a cost that is not known.
  const catalog = await loadCatalog().catch((): Catalog => ({ asOf: "", table: new Map(), overrides: [] }));
  return override ? withOverride(catalog, override) : catalog;
}
