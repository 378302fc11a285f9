import { isSecretName } from "../util/secret-names.ts";

/**
 * The variables child processes get: everything but what looks like a secret, so that a tool that prints its environment gives
 * nothing away. `keep` names those that are passed on nevertheless.
 */
export function scrubEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  keep: readonly string[] = [],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (keep.includes(name) || !isSecretName(name))) kept[name] = value;
  }
  return kept;
}
