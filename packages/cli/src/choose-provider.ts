import { type JsonObject, type Provider, RuntimeError, type SessionOptions, withFallback } from "@outrider/runtime";
import { loadFallback, loadProvider, type ResolvedSettings } from "@outrider/runtime/host";
import type { FlagValues } from "./flags.ts";

export type ChosenProvider = {
  provider: Provider;
  /** Where its key comes from, as `init` tells it. */
  keySource: string;
  replay?: { readonly remaining: number };
  providerOptions?: JsonObject;
  fallback?: NonNullable<SessionOptions["fallback"]>;
};

/** Who is asked: a provider, a recording, or a provider that is recorded. */
export async function chooseProvider(
  flags: FlagValues,
  { resolved, home, cwd, warn }: { resolved: ResolvedSettings; home: string; cwd: string; warn: (line: string) => void },
): Promise<ChosenProvider> {
  if (flags.replay !== undefined && flags.record !== undefined)
    throw new RuntimeError("usage", "--replay and --record exclude each other");
  if (flags.replay !== undefined) {
    const { openReplay, placesOf } = await import("./recording.ts");
    const lenient = flags["replay-lenient"] ?? false;
    const replay = await openReplay(flags.replay, { home, places: placesOf(cwd), lenient, warn });
    return { provider: replay, keySource: "none", replay };
  }
  const settings = resolved.settings.provider;
  const modelName = flags.model === "default" ? undefined : (flags.model ?? resolved.settings.model); // Claude Code's word for no choice
  const choice = { ...(flags.provider && { provider: flags.provider }), ...(modelName && { model: modelName }) };
  const loaded = await loadProvider(choice, settings, process.env);
  const { provider, options, keySource } = loaded;
  const model = flags["fallback-model"] ?? resolved.settings.fallbackModel;
  const extras = {
    keySource,
    ...(options && { providerOptions: options }),
    ...(model && { fallback: await loadFallback(model, loaded, { settings, env: process.env }) }),
  };
  if (flags.record === undefined) return { provider, ...extras };
  const { placesOf, recordTo } = await import("./recording.ts");
  const { fallback, ...rest } = extras; // recorded as one: whoever answers is a part of the recording
  const recorded = recordTo(flags.record, fallback ? withFallback(provider, fallback) : provider, placesOf(cwd));
  return { provider: recorded, ...rest };
}
