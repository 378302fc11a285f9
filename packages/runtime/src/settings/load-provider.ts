import { readFile } from "node:fs/promises";
import { loadExtraCa } from "../model/extra-ca.ts";
import type { Fallback } from "../model/fallback.ts";
import type { Provider } from "../model/model.ts";
import { createProvider } from "../model/providers/create-provider.ts";
import { firstSet, type ProviderDefinition, type ProviderSettings } from "../model/providers/definition.ts";
import type { ProviderCheck } from "../model/providers/probe.ts";
import { findProvider, providerDefinitions, requireProvider } from "../model/providers/definitions.ts";
import { parseModelChoice } from "../model/providers/model-choice.ts";
import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { readTimeouts } from "./network-settings.ts";
import { hintAtKey, keySettings, withKeyHint } from "./profile-key.ts";
import { type Profile, type ProviderSettingsFile, variableOf } from "./profiles.ts";
import { defined } from "../util/defined.ts";
import { messageOf } from "../util/message-of.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `provider` is a profile's key or a provider's name; `model` may begin with one of them, as in `openrouter/x/y`. */
export type ProviderChoice = { readonly provider?: string | undefined; readonly model?: string | undefined };

/** `key` is the profile or provider it was made of; undefined for a script. */
export type LoadedProvider = {
  readonly provider: Provider;
  readonly options: JsonObject | undefined;
  readonly key: string | undefined;
  /** Where its key comes from: the name of a variable, `settings`, or `none`. */
  readonly keySource: string;
  /** The model to ask where a plan is made, when it is another one. */
  readonly planModel?: string | undefined;
  readonly warnings?: readonly string[];
};

/**
 * The provider a run asks: the one that is named, else the current profile, else the first the environment has a key for,
 * in the order of `providerDefinitions`, else a server on this machine that answers.
 */
export async function loadProvider(
  choice: ProviderChoice,
  settings: ProviderSettingsFile,
  env: Environment,
): Promise<LoadedProvider> {
  const named = nameOf(choice, settings);
  if (named.provider === "scripted") {
    return { provider: await loadScripted(named.model), options: undefined, key: undefined, keySource: "none" };
  }
  const byName = named.model === undefined ? undefined : await import("./named-model.ts");
  const chosen = (await byName?.chooseMaker(named, settings, { env, choose })) ?? (await choose(named.provider, settings, env));
  if (named.provider === undefined) byName?.refuseMistyped(named.model, chosen, settings);
  const { definition, profile, key } = chosen;
  const name = named.model ?? profile.model ?? firstSet(env, definition.modelVariables ?? []);
  const wanted =
    name === undefined ? undefined : (await import("./named-model.ts")).resolveName(name, { definition, profile, env });
  try {
    const facts = { definition, profile: { ...profile, ...(wanted && { model: wanted.model }) }, key, env };
    const provider = await createProvider(definition, await toSettings(facts));
    return {
      provider: withKeyHint(provider, chosen),
      options: profile.options,
      key,
      keySource: keySourceOf(chosen, env),
      planModel: wanted?.planModel,
      ...(wanted?.warning && { warnings: [wanted.warning] }),
    };
  } catch (error) {
    throw named.provider === choice.provider ? error : explainPrefix(error, key, settings);
  }
}

/** Another model to ask instead: of the same provider, unless its name begins with another one's. */
export async function loadFallback(
  model: string,
  first: LoadedProvider,
  { settings, env }: { settings: ProviderSettingsFile; env: Environment },
): Promise<Fallback> {
  const named = nameOf({ model }, settings).provider !== undefined || first.key === undefined;
  const choice = named ? { model } : { model, provider: first.key };
  return toFallback(await loadProvider(choice, settings, env));
}

export function toFallback({ provider, options }: LoadedProvider): Fallback {
  return { model: provider.model, provider, ...defined({ options }) };
}

/** Asks the provider a run would ask, or the one that is named, whether key and address are good. */
export async function checkNamedProvider(
  name: string | undefined,
  settings: ProviderSettingsFile,
  env: Environment,
): Promise<{ title: string; check: ProviderCheck }> {
  const { checkProvider } = await import("../model/providers/probe.ts");
  const chosen = await choose(name, settings, env);
  const check = await checkProvider(chosen.definition, await toSettings({ ...chosen, env }), {
    signal: new AbortController().signal,
  });
  return {
    title: chosen.key === chosen.definition.name ? chosen.definition.title : `${chosen.key} (${chosen.definition.title})`,
    check: check.type === "ok" ? check : { ...check, error: hintAtKey(check.error, chosen) },
  };
}

/** What a definition is given for a profile: its key looked up, timeouts and certificates from the environment. */
export async function toSettings(facts: {
  definition: ProviderDefinition;
  profile: Profile;
  key: string;
  env: Environment;
}): Promise<ProviderSettings> {
  const { definition, profile, env } = facts;
  const { timeouts, retry } = readTimeouts(env);
  return {
    ...keySettings(facts, env),
    ...(needsCertificates(definition, profile, env) && { ca: await loadExtraCa(env) }),
    timeouts,
    retry,
    ...defined({
      baseURL: profile.baseURL,
      model: profile.model,
      timeoutMs: profile.timeout,
      contextWindow: profile.contextWindow,
      options: profile.options,
    }),
  };
}

/** A plain connection to a server needs no certificate authorities, and reading them takes a while. */
function needsCertificates(definition: ProviderDefinition, profile: Profile, env: Environment): boolean {
  const urls = [profile.baseURL, ...definition.baseURLVariables.map((name) => env[name]), definition.baseURL];
  const proxied = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].some((name) => env[name]);
  return proxied || !urls.find((url) => url?.trim())?.startsWith("http://");
}

function keySourceOf({ definition, profile }: Chosen, env: Environment): string {
  if (profile.apiKey !== undefined) return variableOf(profile.apiKey) ?? "settings";
  return definition.keyVariables.find((name) => env[name]?.trim()) ?? "none";
}

/** The key that the environment holds for this provider. */
export function hasKey(definition: ProviderDefinition, env: Environment): boolean {
  return definition.keyVariables.some((name) => env[name]?.trim());
}

export type Chosen = { definition: ProviderDefinition; profile: Profile; key: string };

export async function choose(name: string | undefined, settings: ProviderSettingsFile, env: Environment): Promise<Chosen> {
  const key = name ?? settings.currentProvider;
  const profile = key !== undefined && Object.hasOwn(settings.providers, key) ? settings.providers[key] : undefined;
  if (key !== undefined && profile) return { definition: requireProvider(profile.type), profile, key };
  if (name !== undefined) return { definition: requireKnown(name, settings), profile: { type: name }, key: name };
  if (settings.provider)
    return { definition: requireProvider(settings.provider.type), profile: settings.provider, key: "provider" };
  const withKey = providerDefinitions.find((definition) => hasKey(definition, env));
  if (withKey) return { definition: withKey, profile: { type: withKey.name }, key: withKey.name };
  return (await findLocal()) ?? noProvider();
}

async function findLocal(): Promise<Chosen | undefined> {
  const { probeLocal } = await import("../model/providers/probe.ts");
  const candidates = ["ollama", "lmstudio", "llama.cpp"].flatMap((name) => findProvider(name) ?? []);
  const { signal } = new AbortController();
  const answers = await Promise.all(
    candidates.map(async (definition) => ({ definition, server: await probeLocal(definition, { signal }) })),
  );
  for (const { definition, server } of answers) {
    const model = server?.models[0];
    if (server && model)
      return { definition, profile: { type: definition.name, model, baseURL: server.baseURL }, key: definition.name };
  }
  return undefined;
}

function nameOf(
  choice: ProviderChoice,
  settings: ProviderSettingsFile,
): { provider: string | undefined; model: string | undefined } {
  if (choice.provider !== undefined || choice.model === undefined) return { provider: choice.provider, model: choice.model };
  const names = [...Object.keys(settings.providers), ...providerDefinitions.map((definition) => definition.name), "scripted"];
  return parseModelChoice(choice.model, names);
}

/** Routers have models like `openai/gpt-x`: a user who meant one of those is told how it was read. */
function explainPrefix(error: unknown, prefix: string, settings: ProviderSettingsFile): unknown {
  if (!(error instanceof RuntimeError) || error.code !== "config" || Object.hasOwn(settings.providers, prefix)) return error;
  const note = `${prefix}/ was read as the provider; for a model of that name elsewhere, name the provider apart`;
  return new RuntimeError(error.code, error.message, { hint: error.hint ? `${error.hint}\n${note}` : note });
}

function requireKnown(name: string, settings: ProviderSettingsFile): ProviderDefinition {
  try {
    return requireProvider(name);
  } catch (error) {
    const profiles = Object.keys(settings.providers);
    if (!(error instanceof RuntimeError) || profiles.length === 0) throw error;
    throw new RuntimeError("config", error.message, { hint: `${error.hint}. Profiles: ${profiles.join(", ")}` });
  }
}

const quickestWays = [
  "The three quickest ways to continue:",
  "  1. export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, …: outrider providers list)",
  "  2. start a local server: ollama, LM Studio or llama.cpp is found automatically; add any other with",
  "     outrider providers add openai-compatible --base-url URL --model MODEL",
  "  3. outrider demo                no key, no network: see a whole run with a scripted model",
].join("\n");

function noProvider(): never {
  throw new RuntimeError("config", "No model provider is configured", { hint: quickestWays });
}

async function loadScripted(path: string | undefined): Promise<Provider> {
  if (!path)
    throw new RuntimeError(
      "config",
      "The provider scripted needs a model, which is a file: a JSON list of replies (--model FILE)",
    );
  const { createScriptedProvider, parseScript } = await import("../model/scripted.ts");
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new RuntimeError("config", `Cannot read the script ${path}: ${error.message}`);
  });
  try {
    return createScriptedProvider(parseScript(JSON.parse(text)));
  } catch (error) {
    throw new RuntimeError("config", `The script ${path} is not valid: ${messageOf(error)}`);
  }
}
