import { isSecretName, secretsIn } from "../util/secret-names.ts";

/** A shorter one may stand in another value by chance. */
const leastLength = 12;

/**
 * The variables child processes get: everything but what looks like a secret, so that a tool that prints its environment gives
 * nothing away. That goes for a secret inside another value, too: in `CI_REPOSITORY_URL` GitLab has the token of the job.
 * `keep` names those that are passed on nevertheless.
 */
export function scrubEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  keep: readonly string[] = [],
): Record<string, string> {
  const kept: Record<string, string> = {};
  const secrets = secretsIn(env).filter((secret) => secret.length >= leastLength);
  const isPlain = (name: string, value: string): boolean =>
    !isSecretName(name) && !secrets.some((secret) => value.includes(secret));
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (keep.includes(name) || isPlain(name, value))) kept[name] = value;
  }
  return kept;
}
