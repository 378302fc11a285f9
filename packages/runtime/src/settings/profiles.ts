import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { requireProvider } from "../model/providers/definitions.ts";
import { nearest } from "../util/nearest.ts";
import { isRecord } from "../util/is-record.ts";

/** One set-up provider under a key of the user's choosing. `type` is the provider; `options` are its own and are passed on untouched. */
export type Profile = {
  readonly type: string;
  readonly model?: string;
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** Milliseconds the server may be silent. */
  readonly timeout?: number;
  readonly contextWindow?: number;
  readonly options?: JsonObject;
};

export type ProviderSettingsFile = {
  readonly currentProvider: string | undefined;
  readonly providers: Readonly<Record<string, Profile>>;
  /** The older form: one profile without a key; used when no profile is current. */
  readonly provider: Profile | undefined;
};

/** Milliseconds; a timer that is set to more ends at once. */
export const longestTimer: number = 2 ** 31 - 1;

const profileKeys = ["type", "model", "apiKey", "baseURL", "timeout", "contextWindow", "options"];

/** The provider part of a settings object; what is wrong is said with its place. */
export function parseProviderSettings(settings: Readonly<Record<string, unknown>>, file: string): ProviderSettingsFile {
  const fail = (message: string): never => {
    throw new RuntimeError("config", `${file}: ${message}`);
  };
  const { currentProvider, providers = {}, provider } = settings;
  if (currentProvider !== undefined && typeof currentProvider !== "string") fail("currentProvider must be the key of a profile");
  if (!isRecord(providers)) return fail("providers must be an object of profiles");
  const profiles = Object.fromEntries(
    Object.entries(providers).map(([key, value]) => [key, parseProfile(value, `providers.${key}`, fail)]),
  );
  if (typeof currentProvider === "string" && !Object.hasOwn(profiles, currentProvider)) {
    const guess = nearest(currentProvider, Object.keys(profiles));
    fail(
      `currentProvider names ${JSON.stringify(currentProvider)}, and there is no such profile${guess ? `; did you mean ${guess}?` : ""}`,
    );
  }
  return {
    currentProvider: typeof currentProvider === "string" ? currentProvider : undefined,
    providers: profiles,
    provider: provider === undefined ? undefined : parseProfile(renameLegacy(provider), "provider", fail),
  };
}

/** `$ENV:NAME` stands for the variable; undefined when the key is written out, or there is none. */
export function variableOf(apiKey: string | undefined): string | undefined {
  return apiKey?.startsWith("$ENV:") ? apiKey.slice("$ENV:".length) : undefined;
}

/** The key itself. A variable that is not set is said now, not by a provider later; `at` is the profile. */
export function resolveKey(
  apiKey: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  at: string,
): string | undefined {
  const name = variableOf(apiKey);
  if (name === undefined) return apiKey;
  const value = env[name]?.trim();
  if (value) return value;
  throw new RuntimeError("config", `The profile ${at} takes its key from the variable ${name}, which is not set`, {
    hint: `export ${name}=…`,
  });
}

/** A key for a new profile: the model's name in lower-case letters, digits and dashes, with -2, -3, … when it is taken. */
export function suggestProfileKey(facts: { type: string; model: string | undefined }, taken: readonly string[]): string {
  const slug = (text: string): string =>
    text
      .toLowerCase()
      .normalize("NFKD")
      .replace(/\p{M}+/gu, "")
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "");
  const base = slug(publicName(facts.model ?? "")) || slug(facts.type) || "provider";
  for (let number = 1; ; number++) {
    const key = number === 1 ? base : `${base}-${number}`;
    if (!taken.includes(key)) return key;
  }
}

/** A model's id without what may tell whose it is: folders, accounts, and the organisation of a fine-tuned model. */
function publicName(model: string): string {
  const [kind, fineTuned] = model.split(":");
  if (kind === "ft" && fineTuned) return `ft-${fineTuned}`;
  const last = model.slice(model.lastIndexOf("/") + 1);
  return last.startsWith("arn:") ? last.slice(last.lastIndexOf(":") + 1) : last;
}

function parseProfile(value: unknown, at: string, fail: (message: string) => never): Profile {
  if (!isRecord(value))
    return fail(`${at} must be an object like {"type": "openai", "model": "…", "apiKey": "$ENV:OPENAI_API_KEY"}`);
  for (const key of Object.keys(value)) {
    if (profileKeys.includes(key)) continue;
    const guess = nearest(key, profileKeys);
    fail(`${at} has no key ${JSON.stringify(key)}${guess ? `; did you mean ${guess}?` : `. Known: ${profileKeys.join(", ")}`}`);
  }
  const { type, timeout, contextWindow, options } = value;
  if (typeof type !== "string" || type === "") return fail(`${at}.type must name a provider`);
  checkType(type, (problem) => fail(`${at}.type: ${problem}`));
  for (const key of ["model", "apiKey", "baseURL"]) {
    if (value[key] !== undefined && typeof value[key] !== "string") fail(`${at}.${key} must be a text`);
  }
  if (variableOf(value["apiKey"] as string | undefined) === "") fail(`${at}.apiKey must name a variable after $ENV:`); // a text, as just checked
  for (const [key, number] of Object.entries({ timeout, contextWindow })) {
    if (number !== undefined && !(Number.isInteger(number) && Number(number) > 0))
      fail(`${at}.${key} must be a whole number above 0`);
  }
  if (Number(timeout ?? 0) > longestTimer) fail(`${at}.timeout must be at most ${longestTimer}, which is 24 days`);
  if (options !== undefined && !isRecord(options)) fail(`${at}.options must be an object`);
  return value as Profile; // every field was looked at above
}

function checkType(type: string, fail: (problem: string) => never): void {
  try {
    requireProvider(type);
  } catch (error) {
    if (error instanceof RuntimeError) fail(error.message);
    throw error;
  }
}

/** The legacy block called the type `name`. */
function renameLegacy(value: unknown): unknown {
  if (!isRecord(value) || "type" in value || !("name" in value)) return value;
  const { name, ...rest } = value;
  return { type: name, ...rest };
}
