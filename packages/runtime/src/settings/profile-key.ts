import type { Provider } from "../model/model.ts";
import type { ProviderDefinition, ProviderSettings } from "../model/providers/definition.ts";
import { type ErrorData, RuntimeError } from "../protocol/errors.ts";
import { type Profile, resolveKey, variableOf } from "./profiles.ts";
import { defined } from "../util/defined.ts";

type Owner = { readonly definition: ProviderDefinition; readonly profile: Profile; readonly key: string };

/**
 * What a definition is given of a profile's key. What kind of key it is, a definition tells by its variable:
 * one of its own is handed over by name, and is then the only one.
 */
export function keySettings(
  { definition, profile, key }: Owner,
  env: ProviderSettings["env"],
): Pick<ProviderSettings, "env" | "apiKey"> {
  const apiKey = resolveKey(profile.apiKey, env, key);
  const variable = variableOf(profile.apiKey);
  if (variable === undefined || !definition.keyVariables.includes(variable)) {
    return { env, ...defined({ apiKey }) };
  }
  const others = definition.keyVariables.filter((name) => name !== variable);
  return { env: { ...env, ...Object.fromEntries(others.map((name) => [name, undefined])) } };
}

/** A provider that, when its key is refused, names the place this profile has it from. */
export function withKeyHint<P extends Provider>(provider: P, owner: Owner): P {
  if (!owner.profile.apiKey) return provider;
  return {
    ...provider,
    async *stream(request, options) {
      try {
        yield* provider.stream(request, options);
      } catch (thrown) {
        if (!(thrown instanceof RuntimeError)) throw thrown;
        const { hint } = hintAtKey(thrown.toJSON(), owner);
        throw hint === thrown.hint || hint === undefined ? thrown : thrown.restated({ hint });
      }
    },
  };
}

/** Only for the status that means the key and nothing else. */
export function hintAtKey(error: ErrorData, { definition, profile, key }: Owner): ErrorData {
  if (!profile.apiKey || error.code !== "provider-auth" || error.httpStatus !== 401) return error;
  const link = definition.setupLink ? `; see ${definition.setupLink}` : "";
  return { ...error, hint: `Check ${variableOf(profile.apiKey) ?? "the apiKey"} of the profile ${key}${link}` };
}
