import { defined } from "../../util/defined.ts";
import type { CatalogOverride } from "../catalog-override.ts";
import { type ModelRecord, withoutLong } from "./record.ts";

/** What the user knows about models of a provider, by their ids; later words win. Undefined where nothing is known. */
export function capabilitiesFrom(
  override: CatalogOverride | undefined,
  provider: string,
): ((model: string) => Partial<ModelRecord> | undefined) | undefined {
  const own = override?.models.filter((entry) => entry.provider.toLowerCase() === provider.toLowerCase()) ?? [];
  if (own.length === 0) return undefined;
  return (model) => {
    const id = withoutLong(model).toLowerCase();
    const said = own.filter((entry) => entry.model.toLowerCase() === id);
    if (said.length === 0) return undefined;
    return Object.assign(
      {},
      ...said.map(({ contextWindow, maxOutputTokens, capabilities }) => ({
        ...defined({ contextWindow, maxOutputTokens }),
        ...capabilities,
      })),
    ) as Partial<ModelRecord>; // of parsed entries
  };
}
