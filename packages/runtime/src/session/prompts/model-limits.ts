import { type Budget, createBudget } from "../../model/budget.ts";
import type { ModelRef } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { SessionOptions } from "../session-options.ts";

/** The window as the user, the maker or the table of prices tells it, and the provider's guess where none of them knows the model. */
export async function lookUpWindow(options: SessionOptions, { provider, id }: ModelRef): Promise<number> {
  const [{ catalogOf, findBilledModel }, { recordAt }, { capabilitiesFrom }] = await Promise.all([
    import("../../model/pricing.ts"),
    import("../../model/capabilities/chat.ts"),
    import("../../model/capabilities/overrides.ts"),
  ]);
  const record = recordAt(provider, { model: id });
  const chosen = capabilitiesFrom(options.catalogOverride, provider)?.(id)?.contextWindow ?? record?.workingWindow;
  if (chosen !== undefined) return chosen;
  const facts = findBilledModel(await catalogOf(options.catalogOverride), { provider, served: id, requested: id });
  return facts?.contextWindow ?? (record?.guessed ? undefined : record?.contextWindow) ?? options.provider.contextWindow;
}

/** What may be spent; refused where the price of the model is not known. */
export async function openBudget(options: SessionOptions, limitUsd: number, model: ModelRef): Promise<Budget> {
  if (!Number.isFinite(limitUsd) || limitUsd <= 0)
    throw new RuntimeError("usage", `A budget is a number of dollars above 0, not ${limitUsd}`);
  const { catalogOf, findBilledModel, priceOf } = await import("../../model/pricing.ts");
  const catalog = await catalogOf(options.catalogOverride);
  const { provider } = model;
  if (!options.allowUnknownPrice && !findBilledModel(catalog, { provider, served: model.id, requested: model.id })?.price) {
    throw new RuntimeError("config", `The price of ${provider}/${model.id} is not known, so a budget cannot be kept`, {
      hint: "Add its price to models.json, or allow unknown prices (allowUnknownPrice, --allow-unknown-price)",
    });
  }
  const now = options.now ?? Date.now;
  return createBudget(limitUsd, ({ model: served, usage }, requested) =>
    priceOf(findBilledModel(catalog, { provider: served.provider, served: served.id, requested }), usage, new Date(now())),
  );
}
