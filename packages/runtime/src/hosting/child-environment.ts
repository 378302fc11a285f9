import { variableOf } from "../settings/profiles.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { ResolvedSettings, Settings } from "../settings/settings.ts";
import { modelKeys, userEnvironment, type UserWishes } from "../workspace/environment.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

type ChildEnvironment = Pick<SessionOptions, "env" | "passEnv"> & { readonly warnings: readonly string[] };

/** What programs get of the variables around: see docs/sandbox.md. `keySource` is where the key for the model is. */
export function childEnvironment(
  { hiddenVariables = [], options = {} }: SessionRequest,
  { settings }: ResolvedSettings,
  { keySource, around }: { readonly keySource: string; readonly around: Surroundings },
): ChildEnvironment {
  const passEnv = [...settings.passEnv, ...(options.passEnv ?? [])];
  const shown = Object.fromEntries(Object.entries(around.env).filter(([name]) => !hiddenVariables.includes(name)));
  const own = keyWishes({ passEnv, settings, keySource, around });
  const fromSettings = userEnvironment(settings.env, own);
  const env = {
    ...(options.env ? {} : userEnvironment(shown, own)),
    ...fromSettings,
    ...options.env,
    CLAUDECODE: "1", // known to programs that behave otherwise in the hands of an agent
    CLAUDE_CODE_CHILD_SESSION: "1", // the same, of its newer releases
  };
  const warnings = Object.keys(settings.env).flatMap((name) =>
    Object.hasOwn(fromSettings, name) ? [] : [`env.${name} of the settings has no effect: it holds a model's key`],
  );
  return { env, passEnv, warnings };
}

type KeyGround = { readonly settings: Settings; readonly keySource: string; readonly around: Surroundings };

/** Which variables hold the keys for models, or contain one. */
export function keyWishes({
  settings,
  keySource,
  around,
  passEnv,
}: KeyGround & { readonly passEnv: readonly string[] }): UserWishes {
  const profiles = Object.values(settings.provider.providers ?? {});
  const secrets = profiles.flatMap(({ apiKey = "" }) => (variableOf(apiKey) ? [] : [apiKey]));
  const named = profiles.flatMap(({ apiKey }) => variableOf(apiKey) ?? []);
  const keys = [...modelKeys, ...[keySource, ...named].flatMap(ownKeys)];
  return { keys, keep: passEnv, known: { ...around.env, ...settings.env }, secrets };
}

/** The variable that a settings file names for the key, if it does. What clouds call their credentials is for more than models. */
export function ownKeys(keySource: string): readonly string[] {
  return ["none", "settings"].includes(keySource) || /^(?:AWS|GOOGLE)_/.test(keySource) ? [] : [keySource];
}
