import { isPiece, looksRandom } from "./secret-pieces.ts";

/** Is this the name of a variable that holds a secret? `GITHUB_TOKEN`, `StripeKey`, `PGPASSWORD`, `npm_config__auth`; not `TOKENIZERS_PARALLELISM` or `PWD`. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return secretEndings.some((ending) => upper.endsWith(ending)) || wordsOf(name).some((word) => secretWords.has(word));
}

/** The words of a name in capitals: between underscores, dots and dashes, and where a capital begins one (`stripeKey`, `SSHKey`). */
export function wordsOf(name: string): readonly string[] {
  const parted = name.replace(/[a-z\d](?=[A-Z])|[A-Z](?=[A-Z][a-z])/g, "$&_");
  return parted.toUpperCase().split(/[_.-]/);
}

/** A list: a regular expression takes 1 ms to get ready. */
const secretWords: ReadonlySet<string> = new Set([
  ...["KEY", "KEYS", "APIKEY", "APIKEYS", "SECRET", "SECRETS", "TOKEN", "TOKENS", "PASSWORD", "PASSWORDS", "PASSWD"],
  ...["PASSPHRASE", "PASS", "CREDENTIAL", "CREDENTIALS", "CRED", "CREDS", "AUTH", "AUTHORIZATION", "PAT", "DSN"],
  ...["COOKIE", "COOKIES", "JWT"],
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
  return !/^[a-z][a-z0-9+.-]*:\/\/(?:[^\s/@:]{0,15}@)?[^\s@]*$/i.test(value);
}

/** A number, a size or a switch: it gives nothing away whatever it is called (`MAX_TOKENS=100`), but a number may be a password. */
export function isPlainSetting(name: string, value: string): boolean {
  if (/^(?:true|false|yes|no|on|off|none|null|auto|always|never|(?:en|dis)abled?)$/i.test(value)) return true;
  return (
    /^[+-]?\d{1,9}(?:\.\d{1,6})?(?:[kmgt]i?b?|[mun]?s|[hd]|%)?$/i.test(value) &&
    !/(?:PASS|PASSWORD|PASSWD|PASSPHRASE|PWD|PIN|OTP|SECRET)$/i.test(name)
  );
}

/** Names of what says where or which something is, and of keys that open nothing (`PRIMARY_KEY`). */
const places: ReadonlySet<string | undefined> = new Set(["FILE", "PATH", "NAME", "URL", "URI", "ID", "TYPE", "DIR"]);
const openingKey = /API|SECRET|PRIVATE|ACCESS|AUTH|SIGNING|ENCRYPTION|TOKEN|PASS/;
const words = /^[a-z]{1,15}\d{0,2}(?:[-_.:][a-z]{1,15}\d{0,2})*$/i;
const path = /^(?:[a-z]:|~)?[\w.@ \\/-]+$/i;
const address = /^[a-z][a-z0-9+.-]*:\/\/[^\s@]*$/i;
const nothingThere = /^(?:none|no|not|null|unused|dummy|changeme)(?:[-_ ](?:needed|required|used|set|key))*$/i;

/** Words, a path or an address under a name that promises just that: `KEY_FILE=package.json`, `PRIMARY_KEY=customer_id`, `AUTH_URL=https://…`. */
export function isOrdinary(name: string, value: string): boolean {
  if (nothingThere.test(value)) return true;
  const last = wordsOf(name).at(-1);
  if (last === "KEY" ? openingKey.test(name.toUpperCase()) : !places.has(last)) return false;
  if (words.test(value)) return !looksRandom(value) && (last !== "KEY" || /[-_.:]/.test(value));
  if (last === "KEY" || value.length > 512) return false;
  const isPlace = address.test(value) ? !/[?&;][^=]*=/.test(value) : /[\\/.]/.test(value) && path.test(value);
  return isPlace && !value.split(/[\\/]/).some(isPiece);
}

/** The secrets among variables, by the names of those. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) && !isOrdinary(name, value) && isSecretValue(value) ? [value] : [],
  );
}
