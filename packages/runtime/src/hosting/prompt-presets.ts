import { RuntimeError } from "../protocol/errors.ts";
import type { Settings } from "../settings/settings.ts";
import { nearest } from "../util/nearest.ts";

/** The texts that `preset:NAME` or `preset:NAME,NAME` means, from the settings. A name that is not there is an error: a run without its instructions is another run. */
export function presetText(wanted: string, { systemPromptPresets: presets }: Pick<Settings, "systemPromptPresets">): string {
  const names = Object.keys(presets);
  const texts = wanted
    .slice("preset:".length)
    .split(",")
    .map((name) => name.trim())
    .map((name) => {
      const text = Object.hasOwn(presets, name) ? presets[name] : undefined;
      if (text !== undefined) return text;
      const guess = nearest(name, names);
      const help = guess === undefined ? `There are: ${names.join(", ") || "none"}` : `Did you mean ${guess}?`;
      throw new RuntimeError(
        "usage",
        `There is no preset ${JSON.stringify(name)} in systemPromptPresets of the settings. ${help}`,
      );
    });
  return texts.join("\n\n");
}
