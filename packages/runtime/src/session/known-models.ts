import { type KnownModels, needsList } from "../tasks/choose-model.ts";
import type { SessionOptions } from "./session-options.ts";

/** What words a provider's models may be asked for with; its list is loaded only where `wanted` needs it. */
export async function modelsOf(
  { catalogOverride, modelVariables }: SessionOptions,
  provider: string,
  wanted: string | undefined,
): Promise<KnownModels> {
  const { resolveAlias } = await import("../model/aliases.ts");
  const resolve = (word: string): string | undefined => resolveAlias(word, provider, modelVariables);
  if (!needsList(wanted)) return { listed: [], resolve };
  const { catalogOf, listModels } = await import("../model/pricing.ts");
  return { listed: listModels(await catalogOf(catalogOverride), provider).map(({ id }) => id), resolve };
}
