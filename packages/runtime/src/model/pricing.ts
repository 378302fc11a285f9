import { type Catalog, loadCatalog, withOverride } from "./catalog.ts";
import type { CatalogOverride } from "./catalog-override.ts";

/** Everything prices need, in one file to load when they are wanted. */
export { findBilledModel, listModels } from "./catalog.ts";
export { addCall, toPricedCall } from "./ledger.ts";
export { priceOf, ratesAt } from "./price.ts";

export async function catalogOf(override: CatalogOverride | undefined): Promise<Catalog> {
  const catalog = await loadCatalog();
  return override ? withOverride(catalog, override) : catalog;
}
