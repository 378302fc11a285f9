import type { SessionOptions } from "../session/session-options.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { modelKeys, userEnvironment } from "../workspace/environment.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

/** What programs get of the variables around: see docs/sandbox.md. `keySource` is where the key for the model is. */
export function childEnvironment(
  { hiddenVariables = [], options = {} }: SessionRequest,
  { settings }: ResolvedSettings,
  { keySource, around }: { readonly keySource: string; readonly around: Surroundings },
): Pick<SessionOptions, "env" | "passEnv"> {
  const passEnv = [...settings.passEnv, ...(options.passEnv ?? [])];
  const keys = [...modelKeys, ...ownKeys(keySource)];
  const shown = Object.fromEntries(Object.entries(around.env).filter(([name]) => !hiddenVariables.includes(name)));
  const env = {
    ...(options.env ? {} : userEnvironment(shown, { keys, keep: passEnv })),
    ...settings.env,
    ...options.env,
    CLAUDECODE: "1", // known to programs that behave otherwise in the hands of an agent
  };
  return { env, passEnv };
}

/** The variable that a settings file names for the key, if it does. What clouds call their credentials is for more than models. */
export function ownKeys(keySource: string): readonly string[] {
  return ["none", "settings"].includes(keySource) || /^(?:AWS|GOOGLE)_/.test(keySource) ? [] : [keySource];
}
