import { loadLayers, type SettingsLayer, type SettingsPlace } from "./layers.ts";
import { noSettings, type ResolvedSettings } from "./settings.ts";

/** The settings of a run. Whether the project is trusted is asked only when there is something to trust. */
export async function loadSettings(
  place: SettingsPlace,
  isTrusted: (layers: readonly SettingsLayer[]) => Promise<boolean>,
): Promise<ResolvedSettings> {
  const layers = await loadLayers(place);
  return layers.length === 0 ? noSettings : await resolveLayers(layers, { trusted: await isTrusted(layers) });
}

/** `resolveSettings`, loaded when there is something to resolve: a run without settings does not read a line of it. */
export async function resolveLayers(
  layers: readonly SettingsLayer[],
  options: { readonly trusted: boolean },
): Promise<ResolvedSettings> {
  const { resolveSettings } = await import("./resolve.ts");
  return resolveSettings(layers, options);
}
