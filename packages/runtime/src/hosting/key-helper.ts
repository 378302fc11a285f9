import { homeOf } from "../model/aliases.ts";
import { anthropic } from "../model/providers/hosted.ts";
import type { Provider } from "../model/model.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { countIn } from "../settings/claude-variables.ts";
import { type LoadedProvider, loadProvider, type ProviderChoice } from "../settings/load-provider.ts";
import type { ProviderSettingsFile } from "../settings/profiles.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import { outputOfHelper } from "../workspace/helper-program.ts";
import type { Surroundings } from "./surroundings.ts";

type Environment = Surroundings["env"];

/** How long the helper may take, and how long what it printed counts: as in Claude Code. */
const timeoutMs = 60_000;
const usualLifeMs = 300_000;

type Helper = {
  /** The setting `apiKeyHelper`. */
  readonly command: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly settings: ProviderSettingsFile;
};

/** Loads with the helper's key; undefined where another provider is meant, or the environment has a key. */
export function helpedLoad(
  choice: ProviderChoice,
  helper: Helper,
): ((choice: ProviderChoice) => Promise<LoadedProvider>) | undefined {
  return mayHelp(choice, helper) ? async (wished) => await load(wished, helper) : undefined;
}

function mayHelp(choice: ProviderChoice, { settings, env }: Helper): boolean {
  if (anthropic.keyVariables.some((name) => env[name]?.trim())) return false;
  if (choice.provider !== undefined) return choice.provider === "anthropic";
  if (settings.currentProvider !== undefined || settings.provider !== undefined) return false;
  return choice.model === undefined || [undefined, "anthropic"].includes(homeOf(choice.model));
}

/** A provider whose key is asked for before the first request, when it has become old, and once more when it is refused. */
async function load(choice: ProviderChoice, { command, env, cwd, settings }: Helper): Promise<LoadedProvider> {
  const lifeMs = countIn(env, "CLAUDE_CODE_API_KEY_HELPER_TTL_MS", 0) ?? usualLifeMs;
  const ask = async (): Promise<{ key: string; at: number; loaded: LoadedProvider }> => {
    const key = await keyOf(command, { env, cwd });
    return {
      key,
      at: monotonicMs(),
      loaded: await loadProvider({ ...choice, provider: "anthropic" }, settings, withKey(env, key)),
    };
  };
  let now = await ask();
  const renew = async (): Promise<void> => {
    const before = now.loaded.provider;
    now = await ask();
    before.close?.();
  };
  const provider: Provider = {
    ...now.loaded.provider,
    async *stream(request, options) {
      if (monotonicMs() - now.at >= lifeMs) await renew();
      try {
        yield* now.loaded.provider.stream(request, options);
        return;
      } catch (error) {
        if (!(error instanceof RuntimeError) || error.httpStatus !== 401 || options.signal.aborted) throw error;
        const { key } = now;
        await renew();
        if (now.key === key) throw error;
      }
      yield* now.loaded.provider.stream(request, options);
    },
    close: () => now.loaded.provider.close?.(),
  };
  return { ...now.loaded, provider, keySource: "apiKeyHelper" };
}

/** Gateways look for it in the one header or in the other. */
function withKey(env: Environment, key: string): Environment {
  const headers = [`Authorization: Bearer ${key}`, env["ANTHROPIC_CUSTOM_HEADERS"] ?? ""].join("\n");
  return { ...env, ANTHROPIC_API_KEY: key, ANTHROPIC_CUSTOM_HEADERS: headers };
}

async function keyOf(command: string, { env, cwd }: Pick<Helper, "env" | "cwd">): Promise<string> {
  const hint = "The setting apiKeyHelper names a program that prints the key and nothing else";
  const said = await outputOfHelper(command, { cwd, env, timeoutMs, name: "apiKeyHelper" }).catch((error: unknown) => {
    throw new RuntimeError("config", error instanceof Error ? error.message : String(error), { hint });
  });
  const key = said.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new RuntimeError("config", `the apiKeyHelper printed ${key === "" ? "nothing" : "something that is no key"}`, { hint });
}
