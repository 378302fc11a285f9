import { type LoadedProvider, loadProvider, type ProviderChoice } from "../settings/load-provider.ts";
import { patienceIn } from "../settings/network-settings.ts";
import type { ProviderSettingsFile } from "../settings/profiles.ts";
import type { Surroundings } from "./surroundings.ts";

/** Loads providers; one for several sessions where they ask the same one with the same settings. */
export interface ProviderSource {
  load(choice: ProviderChoice, settings: ProviderSettingsFile, around: Surroundings): Promise<LoadedProvider>;
}

/** A provider for each session. */
export const ownProviders: ProviderSource = { load: (choice, settings, { env }) => loadProvider(choice, settings, env) };

/** Sessions of one process share providers, and with them connections. */
export class SharedProviders implements ProviderSource {
  readonly #loaded = new Map<string, Promise<LoadedProvider>>();

  async load(choice: ProviderChoice, settings: ProviderSettingsFile, { env }: Surroundings): Promise<LoadedProvider> {
    const isScript = choice.provider === "scripted" || choice.model?.startsWith("scripted/") === true;
    if (isScript) return await loadProvider(choice, settings, env); // each session has the script from its beginning
    const key = JSON.stringify([choice.provider, choice.model, settings, patienceIn(env)]);
    const known = this.#loaded.get(key) ?? loadProvider(choice, settings, env);
    this.#loaded.set(key, known);
    try {
      return await known;
    } catch (error) {
      this.#loaded.delete(key); // a key may be there the next time
      throw error;
    }
  }

  async close(): Promise<void> {
    const all = [...this.#loaded.values()];
    this.#loaded.clear();
    for (const loading of all) (await loading.catch(() => undefined))?.provider.close?.();
  }
}
