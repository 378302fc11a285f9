import { type Effort, efforts } from "../model/model.ts";
import { isRecord } from "../util/is-record.ts";
import type { SettingsLayer } from "./layers.ts";

/** What files of Claude Code say about the model. It counts where a Claude model is asked: they name models in its words. */
export type ClaudeChoices = {
  readonly model?: string | undefined;
  readonly fallbackModel?: string | undefined;
  readonly effort?: Effort | undefined;
  /** The user's program that prints the key for Anthropic. */
  readonly apiKeyHelper?: string | undefined;
  /** The user's variables that say who is asked and how, as Claude Code's users write them into its settings. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The agent that the conversation is. */
  readonly agent?: string | undefined;
};

/** Variables of settings that reach the run itself, from files of the user and from what was given for this once. */
export function isProviderVariable(name: string): boolean {
  return /^ANTHROPIC_|^CLAUDE_CODE_(?:USE_BEDROCK|USE_VERTEX|OAUTH_TOKEN|EXTRA_BODY|API_KEY_HELPER_TTL_MS)$/.test(name);
}

/** The last file that says something wins. A project that nobody trusts does not choose who is asked and paid. */
export function claudeChoices(layers: readonly SettingsLayer[], { trusted }: { readonly trusted: boolean }): ClaudeChoices {
  const counting = layers.filter(
    ({ dialect, scope }) => (dialect === "claude" || scope === "flag") && (trusted || scope === "user" || scope === "flag"),
  );
  const own = counting.filter(({ scope }) => scope === "user" || scope === "flag");
  const env = Object.assign({}, ...own.map(({ values }) => providerVariables(values["env"])));
  const named = counting.filter(({ dialect }) => dialect === "claude");
  return {
    model: lastOf(named, "model", text),
    fallbackModel: lastOf(named, "fallbackModel", names),
    agent: lastOf(counting, "agent", text),
    apiKeyHelper: lastOf(own, "apiKeyHelper", text),
    ...(Object.keys(env).length > 0 && { env }),
    effort: lastOf(counting, "effortLevel", (value) => efforts.find((effort) => effort === value)),
  };
}

function lastOf<T>(layers: readonly SettingsLayer[], key: string, read: (value: unknown) => T | undefined): T | undefined {
  return layers.map(({ values }) => read(values[key])).findLast((value) => value !== undefined);
}

function providerVariables(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.flatMap(([name, text]) => (isProviderVariable(name) && typeof text === "string" ? [[name, text]] : [])),
  );
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** One name, or several of which each is for when the one before cannot be asked. */
function names(value: unknown): string | undefined {
  return text(Array.isArray(value) ? value.flatMap((one) => text(one) ?? []).join(",") : value);
}
