const secretName = /(?:^|_)(?:API_?KEYS?|ACCESS_KEY|SECRET|SECRETS|TOKEN|PASSWORD|PASSWD|CREDENTIALS?|PRIVATE_KEY|AUTH)(?:_|$)/i;

/** The variables child processes get: everything but what looks like a secret. A tool that prints its environment gives nothing away. */
export function scrubEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !secretName.test(name)) kept[name] = value;
  }
  return kept;
}
