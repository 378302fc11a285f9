import { isAlias } from "../model/aliases.ts";
import type { Provider } from "../model/model.ts";
import { findProvider } from "../model/providers/definitions.ts";
import { resolveModel } from "../model/resolve-model.ts";

type Facts = {
  readonly provider: Provider;
  /** What variables such as `ANTHROPIC_DEFAULT_OPUS_MODEL` say. */
  readonly modelVariables?: Readonly<Record<string, string | undefined>> | undefined;
  readonly warn: (line: string) => void;
};

/** The model a word such as `opus` stands for at this provider; its default, and a warning, where it has no such family. */
export async function resolveModelWord(name: string, { provider, modelVariables, warn }: Facts): Promise<string> {
  const usual = isAlias(provider.model) ? findProvider(provider.name)?.defaultModel : provider.model;
  const { model, warning } = resolveModel(name, { provider: provider.name, usual, env: modelVariables });
  if (warning) warn(warning);
  return model;
}
