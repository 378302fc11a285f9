import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Attempt, Endpoint } from "../client.ts";
import type { Dialect } from "../dialect.ts";
import type { Framing } from "../framing.ts";
import type { Timeouts } from "../http.ts";
import { type HttpFailure, toHttpError } from "../http-error.ts";
import type { ModelRequest } from "../model.ts";
import type { Env } from "../proxy.ts";
import type { RetryPolicy } from "../retry.ts";

/** What is known about a provider before anybody has set it up; `connect` loads the wire it speaks. */
export interface ProviderDefinition {
  readonly name: string;
  /** As its maker writes it. */
  readonly title: string;
  /** Undefined when it has to be given. `{region}` and the like are filled in by `connect`. */
  readonly baseURL: string | undefined;
  /** Where a base URL is looked up when none is given. */
  readonly baseURLVariables: readonly string[];
  /** Where a key is looked up when none is given: the first that is set counts. */
  readonly keyVariables: readonly string[];
  readonly keyOptional: boolean;
  /** Where a model is looked up when none is named. */
  readonly modelVariables?: readonly string[];
  readonly defaultModel: string | undefined;
  /** Tokens; for models nobody knows anything about. */
  readonly contextWindow: number;
  /** Where a key is issued; for a local server, how to get it running. Undefined when nobody can know. */
  readonly setupLink: string | undefined;
  /** Where a server on this machine listens, and what is asked to see whether it is there. */
  readonly local?: { readonly port: number; readonly path: string };
  connect(settings: ConnectSettings): Promise<Connection>;
}

export type ProviderSettings = {
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
  readonly model?: string | undefined;
  /** How long the server may be silent. */
  readonly timeoutMs?: number | undefined;
  readonly contextWindow?: number | undefined;
  /** The profile's options: a definition reads the ones it documents, everything else is for the request body. */
  readonly options?: JsonObject | undefined;
  readonly env: Env;
  /** PEM texts of certificate authorities to trust beside the usual ones. */
  readonly ca?: readonly string[] | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
};

/** `variable` is the environment variable it came from; undefined when it was given. */
export type Key = { readonly value: string; readonly variable: string | undefined };

/** Settings with everything looked up; the base URL without a slash at its end. */
export type ConnectSettings = {
  readonly definition: ProviderDefinition;
  readonly baseURL: string;
  readonly key: Key | undefined;
  readonly model: string | undefined;
  readonly options: JsonObject;
  readonly env: Env;
  readonly ca: readonly string[];
};

/** A provider that was set up: everything the client needs to ask it. */
export type Connection = {
  readonly dialect: Dialect;
  readonly framing?: Framing;
  endpoint(request: ModelRequest, attempt: Attempt): Endpoint | Promise<Endpoint>;
  toError(failure: HttpFailure): RuntimeError;
  /** A GET that costs nothing and needs a good key. Without it, a short message has to be asked for. */
  readonly check?: Endpoint;
  close?(): void;
};

/** The failures of a provider's HTTP answers in its own name. */
export function httpErrors(
  definition: ProviderDefinition,
  isContextOverflow: (message: string) => boolean,
): (failure: HttpFailure) => RuntimeError {
  const words = { provider: definition.title, authHint: keyHint(definition), isContextOverflow };
  return (failure) => toHttpError(failure, words);
}

/** What to check when the key is refused. */
export function keyHint({ keyVariables, setupLink }: ProviderDefinition): string {
  const check = `Check ${keyVariables.length > 0 ? keyVariables.join(" or ") : "the key in the settings"}`;
  return setupLink ? `${check}; see ${setupLink}` : check;
}

/** The base URL with a path added, whatever else it holds. */
export function addPath(baseURL: string, path: string): string {
  const url = new URL(baseURL);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

/** What is asked of a Gemini model, at the end of its path. */
export function geminiAct({ isWhole }: Attempt): string {
  return isWhole ? "generateContent" : "streamGenerateContent?alt=sse";
}

/** An `authorization` header, or none without a key. */
export function bearer(key: Key | undefined): Record<string, string> {
  return key ? { authorization: `Bearer ${key.value}` } : {};
}

/** An option of the profile that must be a text if it is there at all. */
export function textOption({ options, definition }: ConnectSettings, name: string): string | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim()) return value.trim();
  throw new RuntimeError("config", `The option ${name} of ${definition.title} must be a text, not ${JSON.stringify(value)}`);
}

/** The first variable that is set. */
export function firstSet(env: Env, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}
