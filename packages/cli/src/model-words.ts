import { findProvider, type Provider, type SessionOptions } from "@outrider/runtime";

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
    readonly catalogOverride?: SessionOptions["catalogOverride"] | undefined;
    readonly warn: (line: string) => void;
  },
): Promise<string> {
  if (!isModelWord(name)) return name;
  const { provider, catalogOverride, warn } = facts;
  const { chooseModel, listCatalog } = await import("@outrider/runtime/admin");
  const listed = (await listCatalog(provider.name, catalogOverride)).models.map(({ id }) => id);
  const usual = isModelWord(provider.model) ? (findProvider(provider.name)?.defaultModel ?? provider.model) : provider.model;
  const { model } = chooseModel(name, { provider: provider.name, id: usual }, listed);
  if (!model.toLowerCase().includes(name.toLowerCase())) warn(`${provider.name} has no model called ${name}: ${model} is asked`);
  return model;
}
