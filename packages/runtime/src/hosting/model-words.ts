import type { CatalogOverride } from "../model/catalog-override.ts";
import type { Provider } from "../model/model.ts";
import { findProvider } from "../model/providers/definitions.ts";

const words: ReadonlySet<string> = new Set(["haiku", "sonnet", "opus"]);

/** Is this one of Claude Code's words for the newest model of a family, rather than a model's id? */
export function isModelWord(name: string): boolean {
  return words.has(name.toLowerCase());
}

/** The model a word stands for at this provider; its default, and a warning, where it has no such family. */
export async function resolveModelWord(
  name: string,
  facts: {
    readonly provider: Provider;
    readonly catalogOverride?: CatalogOverride | undefined;
    readonly warn: (line: string) => void;
  },
): Promise<string> {
  if (!isModelWord(name)) return name;
  const { provider, catalogOverride, warn } = facts;
  const { chooseModel } = await import("../tasks/choose-model.ts");
  const { listCatalog } = await import("../model/list-catalog.ts");
  const listed = (await listCatalog(provider.name, catalogOverride)).models.map(({ id }) => id);
  const usual = isModelWord(provider.model) ? (findProvider(provider.name)?.defaultModel ?? provider.model) : provider.model;
  const { model } = chooseModel(name, { provider: provider.name, id: usual }, listed);
  if (!model.toLowerCase().includes(name.toLowerCase())) warn(`${provider.name} has no model called ${name}: ${model} is asked`);
  return model;
}
