/** Is this the name of a variable that holds a secret? `GITHUB_TOKEN`, `OPENAI_API_KEY`, `PGPASSWORD`, `npm_config__auth`; not `TOKENIZERS_PARALLELISM` or `PWD`. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return secretEndings.some((ending) => upper.endsWith(ending)) || upper.split(/[_.-]/).some((word) => secretWords.has(word));
}

/** Whole words between underscores (or dots and dashes, as in settings). A list: a regular expression takes 1 ms to get ready. */
const secretWords: ReadonlySet<string> = new Set([
  ...[
    "KEY",
    "KEYS",
    "APIKEY",
    "APIKEYS",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
  ],
  ...["PASS", "CREDENTIAL", "CREDENTIALS", "CRED", "CREDS", "AUTH", "PAT", "DSN", "COOKIE", "COOKIES", "JWT"],
]);

/** Written as one word with what comes before. */
const secretEndings: readonly string[] = [
  ...["APIKEY", "API_KEY", "ACCESSKEY", "PRIVATEKEY", "SECRETKEY"],
  ...["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "_PWD"],
];

/** Is this a value that gives something away? Not `true`, a number, a plain word, a path or an address without a password in it. */
export function isSecretValue(value: string): boolean {
  if (value.length < 8) return false;
  if (/^[a-z]+$/i.test(value) && value.length < 16) return false;
  if (/^[\d.,:_-]+$/.test(value) && value.length < 16) return false;
  if (/^(?:~|\.{1,2})?\/[\w./ -]*$/.test(value) && !/[A-Za-z0-9]{24,}/.test(value)) return false;
  return !/^[a-z][a-z0-9+.-]*:\/\/[^\s@]*$/i.test(value);
}

/** The secrets among variables, by the names of those. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) && isSecretValue(value) ? [value] : [],
  );
}
