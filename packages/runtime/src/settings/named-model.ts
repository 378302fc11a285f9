import { homeOf, isAlias, resolveAlias } from "../model/aliases.ts";
import type { ProviderDefinition } from "../model/providers/definition.ts";
import { providerDefinitions, requireProvider } from "../model/providers/definitions.ts";
import { type ResolvedModel, resolveModel } from "../model/resolve-model.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { type Chosen, hasKey, type ProviderChoice } from "./load-provider.ts";
import type { Profile, ProviderSettingsFile } from "./profiles.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Choose = (name: string | undefined, settings: ProviderSettingsFile, env: Environment) => Promise<Chosen>;

/** The id that a name means here, and the model for plans where that is another one. */
export function resolveName(
  name: string,
  { definition, profile, env }: { readonly definition: ProviderDefinition; readonly profile: Profile; readonly env: Environment },
): ResolvedModel & { readonly planModel?: string | undefined } {
  const usual = profile.model === undefined || isAlias(profile.model) ? definition.defaultModel : profile.model;
  const planModel = name.toLowerCase() === "opusplan" ? resolveAlias("opus", definition.name, env) : undefined;
  return { ...resolveModel(name, { provider: definition.name, usual, env }), planModel };
}

/**
 * The provider for a model that is named without one, where that is another than usual: the maker of the model, if the usual provider sells
 * only its own and the maker's key is there.
 */
export async function chooseMaker(
  { provider, model }: ProviderChoice,
  settings: ProviderSettingsFile,
  { env, choose }: { readonly env: Environment; readonly choose: Choose },
): Promise<Chosen | undefined> {
  const home = provider === undefined && model !== undefined ? homeOf(model) : undefined;
  if (home === undefined || model === undefined) return undefined;
  const [profiled] = Object.entries(settings.providers).find(([, { type }]) => type === home) ?? [];
  const isReachable = profiled !== undefined || hasKey(requireProvider(home), env);
  const usual = await choose(undefined, settings, env).catch((error: unknown) => {
    if (error instanceof RuntimeError && error.code === "config") return undefined;
    throw error;
  });
  if (usual && (!isReachable || serves(usual, model))) return usual;
  return await choose(profiled ?? home, settings, env);
}

/** Throws for `opnai/gpt-x`: whoever sells only its own models has none of such a name, and the request would go to the wrong one. */
export function refuseMistyped(model: string | undefined, chosen: Chosen, settings: ProviderSettingsFile): void {
  const slash = model?.indexOf("/") ?? -1;
  if (model === undefined || slash < 1 || !sellsOnlyItsOwn(chosen)) return;
  const typed = model.slice(0, slash);
  const meant = nearest(typed, [...Object.keys(settings.providers), ...providerDefinitions.map(({ name }) => name)]);
  if (meant === undefined) return;
  throw new RuntimeError("config", `There is no provider ${JSON.stringify(typed)}; did you mean ${meant}${model.slice(slash)}?`, {
    hint: `For a model that ${chosen.key} has under this name, name the provider apart: --provider ${chosen.key} --model ${model}`,
  });
}

function serves(chosen: Chosen, model: string): boolean {
  const { name } = chosen.definition;
  if (isAlias(model)) return resolveAlias(model, name) !== undefined;
  return homeOf(model) === name || !sellsOnlyItsOwn(chosen);
}

/** Whoever has more than one maker's models, or an address of its own, may have any. */
function sellsOnlyItsOwn({ definition, profile }: Chosen): boolean {
  return homeOf(definition.defaultModel ?? "") === definition.name && profile.baseURL === undefined;
}
