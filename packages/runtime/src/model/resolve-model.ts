import { isAlias, resolveAlias } from "./aliases.ts";
import { claudeModels } from "./capabilities/claude.ts";
import { findRecord, isLong, withoutLong } from "./capabilities/record.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type ResolvedModel = { readonly model: string; readonly warning?: string };

/**
 * The id that a name means at a provider: `sonnet`, `opus[1m]`, or an id as it is. `usual` is asked, with a warning, where the provider has
 * no model of that family. `[1m]` stays where a model has a long window that has to be asked for, or costs more.
 */
export function resolveModel(
  name: string,
  {
    provider,
    usual,
    env,
  }: { readonly provider: string; readonly usual: string | undefined; readonly env?: Environment | undefined },
): ResolvedModel {
  if (!isAlias(name)) return isLong(name) ? withWindow(name, withoutLong(name)) : { model: name };
  const model = resolveAlias(name, provider, env);
  if (model !== undefined) return isLong(name) ? withWindow(name, withoutLong(model)) : { model };
  const own = usual === undefined || isAlias(usual) ? undefined : usual;
  if (own === undefined) return { model: name };
  return { model: own, warning: `${provider} has no model called ${name}: ${own} is asked` };
}

function withWindow(name: string, model: string): ResolvedModel {
  const record = findRecord(claudeModels, model);
  if (record?.longWindow !== undefined || record?.workingWindow !== undefined) return { model: `${model}[1m]` };
  if (!record || record.contextWindow >= 1_000_000) return { model };
  return { model, warning: `${model} has no window of a million tokens: ${name} means its usual one` };
}
