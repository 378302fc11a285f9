import { type Effort, efforts } from "../model/model.ts";
import type { SettingsLayer } from "./layers.ts";

/** What files of Claude Code say about the model. It counts where a Claude model is asked: they name models in its words. */
export type ClaudeChoices = {
  readonly model?: string | undefined;
  readonly fallbackModel?: string | undefined;
  readonly effort?: Effort | undefined;
};

/** The last file that says something wins. A project that nobody trusts does not choose who is asked and paid. */
export function claudeChoices(layers: readonly SettingsLayer[], { trusted }: { readonly trusted: boolean }): ClaudeChoices {
  const counting = layers.filter(
    ({ dialect, scope }) => (dialect === "claude" || scope === "flag") && (trusted || scope === "user" || scope === "flag"),
  );
  const named = counting.filter(({ dialect }) => dialect === "claude");
  return {
    model: lastOf(named, "model", text),
    fallbackModel: lastOf(named, "fallbackModel", first),
    effort: lastOf(counting, "effortLevel", (value) => efforts.find((effort) => effort === value)),
  };
}

function lastOf<T>(layers: readonly SettingsLayer[], key: string, read: (value: unknown) => T | undefined): T | undefined {
  return layers.map(({ values }) => read(values[key])).findLast((value) => value !== undefined);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** One name, or several of which the first is meant. */
function first(value: unknown): string | undefined {
  return text(Array.isArray(value) ? value[0] : value);
}
