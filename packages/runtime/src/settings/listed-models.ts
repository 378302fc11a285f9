import { join } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import type { ModelOverride } from "../model/catalog-override.ts";
import { listOwnModels } from "../model/providers/own-models.ts";
import { replaceFile } from "../util/replace-file.ts";
import { choose, toSettings } from "./load-provider.ts";
import type { ProviderSettingsFile } from "./profiles.ts";
import { listedFile, loadListedModels } from "./user-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the provider a run would ask, or the one that is named, says about its own models. */
export async function askForOwnModels(
  name: string | undefined,
  settings: ProviderSettingsFile,
  env: Environment,
): Promise<{ provider: string; models: readonly ModelOverride[] }> {
  const chosen = await choose(name, settings, env);
  const models = await listOwnModels(chosen.definition, await toSettings({ ...chosen, env }));
  return { provider: chosen.definition.name, models };
}

/** Keeps what a provider says about its models, in the place of what it said before. */
export async function saveListedModels(home: string, provider: string, models: readonly ModelOverride[]): Promise<void> {
  const others = (await loadListedModels(home))?.models.filter((model) => model.provider !== provider) ?? [];
  makeFolder(home);
  await replaceFile(join(home, listedFile), `${JSON.stringify({ models: [...others, ...models] }, null, 1)}\n`);
}
