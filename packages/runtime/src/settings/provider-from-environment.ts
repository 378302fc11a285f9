import { readFile } from "node:fs/promises";
import type { Provider } from "../model/model.ts";
import { loadExtraCa } from "../model/extra-ca.ts";
import { createAnthropicProvider } from "../model/providers/anthropic.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";

type Environment = Readonly<Record<string, string | undefined>>;
export type ProviderChoice = { readonly provider?: string; readonly model?: string };

const providers = ["anthropic", "scripted"] as const;

/** The provider a run asks: the one that is named, else the one the environment has a key for. */
export async function loadProvider(choice: ProviderChoice, env: Environment): Promise<Provider> {
  const name = choice.provider ?? (hasAnthropicKey(env) ? "anthropic" : undefined);
  switch (name) {
    case undefined:
      throw new RuntimeError("config", "No model provider is configured", { hint: quickestWays });
    case "anthropic":
      return await loadAnthropic(choice.model, env);
    case "scripted":
      return await loadScripted(choice.model);
    default:
      throw unknownProvider(name);
  }
}

const quickestWays = [
  "The three quickest ways on:",
  "  1. export ANTHROPIC_API_KEY=…                      a key from the Anthropic console",
  "  2. export ANTHROPIC_BASE_URL=… ANTHROPIC_AUTH_TOKEN=…   any gateway or server that speaks the Anthropic API",
  "  3. outrider demo                                   no key, no network: see a whole run with a scripted model",
].join("\n");

async function loadAnthropic(model: string | undefined, env: Environment): Promise<Provider> {
  const apiKey = env["ANTHROPIC_API_KEY"] || undefined;
  const authToken = env["ANTHROPIC_AUTH_TOKEN"] || undefined;
  if (!apiKey && !authToken) {
    throw new RuntimeError("config", "The provider anthropic needs ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN", {
      hint: quickestWays,
    });
  }
  const baseURL = env["ANTHROPIC_BASE_URL"] || undefined;
  if (baseURL && !URL.canParse(baseURL)) throw new RuntimeError("config", `ANTHROPIC_BASE_URL is no URL: ${baseURL}`);
  const chosen = model ?? (env["ANTHROPIC_MODEL"] || undefined);
  return createAnthropicProvider({
    ...(apiKey && { apiKey }),
    ...(authToken && { authToken }),
    ...(baseURL && { baseURL }),
    ...(chosen && { model: chosen }),
    env,
    ca: await loadExtraCa(env),
    timeouts: {
      ...readNumber(env, "OUTRIDER_CONNECT_TIMEOUT_MS", "connectMs"),
      ...readNumber(env, "OUTRIDER_HEADERS_TIMEOUT_MS", "headersMs"),
      ...readNumber(env, "OUTRIDER_FIRST_BYTE_TIMEOUT_MS", "firstByteMs"),
      ...readNumber(env, "OUTRIDER_IDLE_TIMEOUT_MS", "idleMs"),
      ...readNumber(env, "OUTRIDER_TOTAL_TIMEOUT_MS", "totalMs"),
    },
    retry: {
      ...readNumber(env, "OUTRIDER_MAX_RETRIES", "maxRetries"),
      ...readNumber(env, "OUTRIDER_RETRY_BASE_MS", "baseDelayMs"),
    },
  });
}

async function loadScripted(path: string | undefined): Promise<Provider> {
  if (!path) throw new RuntimeError("config", "The provider scripted needs --model FILE: a JSON list of replies");
  const { createScriptedProvider, parseScript } = await import("../model/scripted.ts");
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new RuntimeError("config", `Cannot read the script ${path}: ${error.message}`);
  });
  try {
    return createScriptedProvider(parseScript(JSON.parse(text)));
  } catch (error) {
    throw new RuntimeError("config", `The script ${path} is not valid: ${error instanceof Error ? error.message : error}`);
  }
}

function hasAnthropicKey(env: Environment): boolean {
  return Boolean(env["ANTHROPIC_API_KEY"] || env["ANTHROPIC_AUTH_TOKEN"]);
}

function readNumber<K extends string>(env: Environment, name: string, key: K): { [P in K]?: number } {
  const text = env[name];
  if (!text) return {};
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new RuntimeError("config", `${name} must be a whole number, not ${JSON.stringify(text)}`);
  return { [key]: value } as { [P in K]?: number }; // a computed key loses its literal type
}

function unknownProvider(name: string): RuntimeError {
  const guess = nearest(name, providers);
  const question = guess ? ` Did you mean ${guess}?` : "";
  return new RuntimeError("config", `There is no provider ${JSON.stringify(name)}.${question} Known: ${providers.join(", ")}`);
}
