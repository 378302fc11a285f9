import type { Fallback } from "../model/fallback.ts";
import type { Provider } from "../model/model.ts";
import type { JsonObject } from "../protocol/content.ts";
import { isOn } from "../settings/claude-variables.ts";
import { patienceIn } from "../settings/network-settings.ts";
import { loadFallback, toFallback } from "../settings/load-provider.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import type { SessionRequest } from "./session-request.ts";
import { ownProviders, type ProviderSource } from "./shared-providers.ts";
import type { Surroundings } from "./surroundings.ts";

export type ChosenProvider = {
  readonly provider: Provider;
  /** Where its key comes from: the name of a variable, `settings`, or `none`. */
  readonly keySource: string;
  /** What is left of a recording that is answered from. */
  readonly replay?: { readonly remaining: number } | undefined;
  readonly providerOptions?: JsonObject | undefined;
  readonly planModel?: string | undefined;
  readonly fallback?: Fallback | undefined;
  /** Such as that another model is asked than was named. */
  readonly warnings?: readonly string[] | undefined;
};

type Context = {
  readonly resolved: ResolvedSettings;
  readonly around: Surroundings;
  readonly cwd: string;
  readonly warn: (line: string) => void;
  readonly providers?: ProviderSource | undefined;
};

/** Who is asked: a provider, a recording, or a provider that is recorded. */
export async function chooseProvider(
  request: SessionRequest,
  { resolved, around, cwd, warn, providers = ownProviders }: Context,
): Promise<ChosenProvider> {
  const { recording } = request;
  if (recording?.type === "replay") {
    const { openReplay, placesOf } = await import("./recording.ts");
    const replay = await openReplay(recording, { around, places: placesOf(cwd, around), warn });
    return { provider: replay, keySource: "none", replay };
  }
  const chosen = await chooseLive(request, { resolved, around, cwd, providers });
  if (recording === undefined) return chosen;
  const { placesOf, recordTo } = await import("./recording.ts");
  const { fallback, provider, ...rest } = chosen; // recorded as one: which of the two answered is a part of the recording
  const asked = fallback ? (await import("../model/fallback.ts")).withFallback(provider, fallback) : provider;
  return { ...rest, provider: recordTo(recording.path, asked, { places: placesOf(cwd, around), env: around.env }) };
}

async function chooseLive(
  { provider: wanted, model, fallbackModel }: SessionRequest,
  {
    resolved: { settings },
    around,
    cwd,
    providers: shared,
  }: Pick<Context, "resolved" | "around" | "cwd"> & { readonly providers: ProviderSource },
): Promise<ChosenProvider> {
  if (typeof wanted === "object") return { provider: wanted, keySource: "none" };
  const { env: own, apiKeyHelper } = settings.claude;
  const patient = { ...around, env: { ...around.env, ...patienceIn(settings.env), ...own } };
  const provider = wanted ?? (isOpen(settings, model) ? cloudIn(patient.env) : undefined);
  const providers = own === undefined ? shared : ownProviders;
  const named = { provider, model: model ?? settings.model };
  const isSaid = settings.claude.model ?? settings.claude.fallbackModel;
  const ofClaude = isSaid ? await (await import("./claude-models.ts")).claudeModels(named, settings, patient.env) : {};
  const choice = { provider, model: named.model ?? ofClaude.model };
  const helper = { command: apiKeyHelper ?? "", cwd, env: patient.env, settings: settings.provider };
  const helped = apiKeyHelper && (await import("./key-helper.ts")).helpedLoad(choice, helper);
  const loaded = helped ? await helped(choice) : await providers.load(choice, settings.provider, patient);
  const other = fallbackModel ?? settings.fallbackModel ?? ofClaude.fallbackModel;
  return {
    provider: loaded.provider,
    keySource: loaded.keySource,
    warnings: loaded.warnings,
    providerOptions: loaded.options,
    planModel: loaded.planModel,
    fallback: other
      ? await (await import("./fallbacks.ts")).loadFallbacks(other, async (name) =>
          helped
            ? toFallback(await helped({ model: name, provider: "anthropic" }))
            : await loadFallback(name, loaded, { settings: settings.provider, env: patient.env }),
        )
      : undefined,
  };
}

/** Nobody has named a provider: no profile is current, and no model begins with one's name. */
function isOpen(settings: ResolvedSettings["settings"], model = settings.model): boolean {
  return settings.provider.currentProvider === undefined && !model?.includes("/");
}

/** Claude Code's switches for models in somebody's cloud. */
function cloudIn(env: Surroundings["env"]): string | undefined {
  if (isOn(env, "CLAUDE_CODE_USE_BEDROCK")) return "bedrock";
  return isOn(env, "CLAUDE_CODE_USE_VERTEX") ? "vertex" : undefined;
}
