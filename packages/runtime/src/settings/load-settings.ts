import type { SettingsLayer } from "./layers.ts";
import type { ResolvedSettings } from "./settings.ts";

/** `resolveSettings`, loaded when there is something to resolve: a run without settings does not read a line of it. */
export async function resolveLayers(
  layers: readonly SettingsLayer[],
  options: { readonly trusted: boolean },
): Promise<ResolvedSettings> {
  const { resolveSettings } = await import("./resolve.ts");
  const resolved = resolveSettings(layers, options);
  if (!layers.some(({ dialect, scope }) => dialect === "claude" || scope === "flag")) return resolved;
  const { claudeChoices } = await import("./claude-choices.ts");
  return { ...resolved, settings: { ...resolved.settings, claude: claudeChoices(layers, options) } };
}
