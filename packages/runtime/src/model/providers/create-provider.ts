import { RuntimeError } from "../../protocol/errors.ts";
import { checkValue, fields } from "../../protocol/kinds.ts";
import { createModelClient } from "../client.ts";
import { defaultTimeouts, type Timeouts } from "../http.ts";
import type { Provider } from "../model.ts";
import {
  type Connection,
  type ConnectSettings,
  firstSet,
  type Key,
  type ProviderDefinition,
  type ProviderSettings,
} from "./definition.ts";
import { defined } from "../../util/defined.ts";
import { requireProvider } from "./definitions.ts";

/**
 * A provider that can be asked, by its name or definition; close it to let go of its connections. Variables (keys, addresses, proxies) are
 * looked up in `env`, and nowhere when that is absent.
 */
export async function createProvider(
  provider: ProviderDefinition | string,
  given: Omit<ProviderSettings, "env"> & { readonly env?: ProviderSettings["env"] | undefined },
): Promise<Provider & { close(): void }> {
  checkValue("The settings of a provider", given, fields);
  const definition = typeof provider === "string" ? requireProvider(provider) : provider;
  const settings = { ...given, env: given.env ?? {} };
  const resolved = resolveSettings(definition, settings, given.env ? undefined : "Give it as apiKey, or the variables as env");
  if (!resolved.model) {
    throw new RuntimeError("config", `${definition.title} has no default model: name the one to ask`, {
      ...(definition.local && { hint: "Take one of those the server has" }),
    });
  }
  return openProvider(await definition.connect(resolved), { definition, settings, model: resolved.model });
}

/** Looks up what was not given, and says what is missing. */
export function resolveSettings(definition: ProviderDefinition, settings: ProviderSettings, keyHint?: string): ConnectSettings {
  return {
    definition,
    baseURL: findBaseURL(definition, settings),
    key: findKey(definition, settings, keyHint),
    model: settings.model?.trim() || firstSet(settings.env, definition.modelVariables ?? []) || definition.defaultModel,
    options: settings.options ?? {},
    env: settings.env,
    ca: settings.ca ?? [],
  };
}

export function openProvider(
  connection: Connection,
  { definition, settings, model }: { definition: ProviderDefinition; settings: ProviderSettings; model: string },
): Provider & { close(): void } {
  const { nativeSchema } = connection.dialect;
  const client = createModelClient({
    name: definition.name,
    dialect: connection.dialect,
    ...defined({ framing: connection.framing }),
    endpoint: (request, attempt) => connection.endpoint(request, attempt),
    toError: (failure) => connection.toError(failure),
    timeouts: { ...patience(settings.timeoutMs), ...settings.timeouts },
    env: settings.env,
    ...defined({ retry: settings.retry }),
    ...(settings.ca && { ca: settings.ca }),
  });
  return {
    name: definition.name,
    model,
    contextWindow: settings.contextWindow ?? definition.contextWindow,
    contextWindowIsGuess: settings.contextWindow === undefined,
    nativeSchema: typeof nativeSchema === "function" ? nativeSchema(model) : nativeSchema,
    ...defined({ fitsSchema: connection.dialect.fitsSchema }),
    stream: (request, options) => client.stream(request, options),
    close() {
      client.close();
      connection.close?.();
    },
  };
}

function findBaseURL(definition: ProviderDefinition, settings: ProviderSettings): string {
  const { title, baseURLVariables } = definition;
  const given = settings.baseURL?.trim();
  const variable = given ? undefined : baseURLVariables.find((name) => settings.env[name]?.trim());
  const url = given || (variable && settings.env[variable]?.trim()) || definition.baseURL;
  const hint = baseURLVariables.length > 0 ? `Set ${baseURLVariables.join(" or ")}, or baseURL in the settings` : "Set baseURL";
  if (!url) throw new RuntimeError("config", `${title} needs a base URL`, { hint });
  const whole = variable ? withScheme(url, definition.local?.port) : url;
  if (!isWebAddress(whole)) {
    throw new RuntimeError("config", `The base URL "${whole}" is no http or https address`, {
      hint: `Check ${variable ?? "baseURL"}`,
    });
  }
  return whole.replace(/\/+$/, "");
}

/** OLLAMA_HOST is a host, with or without a port. */
function withScheme(text: string, port: number | undefined): string {
  const host = /^[\w.-]+(:\d+)?$/.exec(text);
  if (!host) return text;
  return host[1] || port === undefined ? `http://${text}` : `http://${text}:${port}`;
}

function isWebAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:";
}

function findKey(definition: ProviderDefinition, settings: ProviderSettings, keyHint: string | undefined): Key | undefined {
  const { title, keyVariables, setupLink, keyOptional } = definition;
  const hint = keyHint ?? (setupLink && `Keys are issued at ${setupLink}`);
  const given = settings.apiKey?.trim();
  if (given) return { value: given, variable: undefined };
  for (const variable of keyVariables) {
    const value = settings.env[variable]?.trim();
    if (value) return { value, variable };
  }
  if (keyOptional) return undefined;
  throw new RuntimeError("config", `${title} needs a key: set ${keyVariables.join(" or ")}`, {
    ...(hint && { hint }),
  });
}

/** A server that may be silent for long in the middle of an answer may take as long before it. */
function patience(timeoutMs: number | undefined): Partial<Timeouts> {
  if (timeoutMs === undefined) return {};
  return {
    idleMs: timeoutMs,
    headersMs: Math.max(timeoutMs, defaultTimeouts.headersMs),
    firstByteMs: Math.max(timeoutMs, defaultTimeouts.firstByteMs),
  };
}
