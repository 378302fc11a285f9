import { RuntimeError, type SessionOptions } from "@outrider/runtime";
import { modelKeys, type ResolvedSettings, userEnvironment } from "@outrider/runtime/host";
import { withoutCommandFiles } from "./ci/platform.ts";
import type { FlagValues } from "./flags.ts";
import { withdrawKeys } from "./withdraw-keys.ts";

/** What programs get of the variables this one was started with: see docs/sandbox.md. `keySource` is where the key for the model is. */
export function childEnvironment(
  flags: FlagValues,
  { settings }: ResolvedSettings,
  keySource: string,
): Pick<SessionOptions, "env" | "passEnv"> & { readonly warnings: readonly string[] } {
  const passEnv = [...settings.passEnv, ...passedNames(flags)];
  const keys = [...modelKeys, ...(isOwnKey(keySource) ? [keySource] : [])];
  const exposed = withdrawKeys(keys.slice(modelKeys.length));
  const env = {
    ...withoutCommandFiles(userEnvironment(process.env, { keys, keep: passEnv })),
    ...settings.env,
    CLAUDECODE: "1", // known to programs that behave otherwise in the hands of an agent
  };
  return { env, ...(passEnv.length > 0 && { passEnv }), warnings: exposed === undefined ? [] : [exposed] };
}

/** A variable that a settings file names for the key. What clouds call their credentials is for more than models. */
function isOwnKey(keySource: string): boolean {
  return !["none", "settings"].includes(keySource) && !/^(?:AWS|GOOGLE)_/.test(keySource);
}

function passedNames(flags: FlagValues): string[] {
  const names = (flags["pass-env"] ?? []).flatMap((words) => words.split(",")).map((name) => name.trim());
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong !== undefined)
    throw new RuntimeError("usage", `--pass-env takes names of variables, and ${JSON.stringify(wrong)} is none`);
  return names;
}
