import type { CatalogOverride } from "./catalog-override.ts";
import type { Rates } from "./price.ts";

export type CatalogLine = { provider: string; id: string; contextWindow?: number; maxOutputTokens?: number; price: Rates | null };

/** The models of one provider, or of all, with what they cost today. */
export async function listCatalog(
  provider: string | undefined,
  override: CatalogOverride | undefined,
): Promise<{ asOf: string; models: CatalogLine[] }> {
  const { catalogOf, listModels, ratesAt } = await import("./pricing.ts");
  const catalog = await catalogOf(override);
  const today = new Date();
  const models = listModels(catalog, provider).map(({ priceFrom: _, price, ...facts }) => ({
    ...facts,
    price: price && ratesAt(price, today),
  }));
  return { asOf: catalog.asOf, models };
}
