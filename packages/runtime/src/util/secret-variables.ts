import { isOrdinary, isSecretName, isSecretValue, wordsOf } from "./secret-names.ts";
import { isPiece } from "./secret-pieces.ts";

/** Names that are no secrets in a text, where they may mean anything, and mostly are in an environment. */
const givingWords: ReadonlySet<string> = new Set(["WEBHOOK", "WEBHOOKS", "BEARER", "SAS", "PSK", "SK", "MNEMONIC", "OTP"]);

/** Does the name of a variable say that it holds a secret? */
export function isGivingName(name: string): boolean {
  const upper = name.toUpperCase();
  if (isSecretName(name) || wordsOf(name).some((word) => givingWords.has(word))) return true;
  return upper.includes("CONN") && /CONN(?:ECTION)?_?STR(?:ING)?/.test(upper);
}

/** `scheme://user:password@host` and `user:password@host`, whatever the password; not `ssh://git@host`. */
const userinfo = /:\/\/([^\s/?#@:]*):([^\s/?#]+)@|^([^\s:@/]+):(?!\/\/)([^\s@]+)@[\w.[(-]/g;
/** `Server=x;Password=y`, `AccountKey=…`, `?sig=…`. */
const setting =
  /(?:^|[;,&?\s])(?:password|passwd|pwd|accountkey|sharedaccess(?:key|signature)|(?:client_?)?secret|(?:access_?|auth_?)?token|api_?key|sig(?:nature)?)\s*=\s*(?:"([^"]{3,})"|'([^']{3,})'|([^;&\s]{3,}))/gi;
const webhook = /\/\/(?:discord(?:app)?\.com\/api\/webhooks|[\w.-]*webhook\.office\.com|hooks\.[\w.-]+)\//;

/** By what stands in addresses and connection strings. A regular expression takes 1 ms to get ready. */
export function holdsPassword(value: string): boolean {
  if (value.length < 8) return false;
  if (value.includes("@") && value.search(userinfo) !== -1) return true;
  if (value.includes("=") && value.search(setting) !== -1) return true;
  return value.includes("//") && webhook.test(value);
}

/** The passwords in addresses and connection strings, also as they are behind the signs of an address. */
export function passwordsIn(value: string): readonly string[] {
  const found: string[] = [];
  if (value.includes("@"))
    for (const [, user = "", password, other = "", last = ""] of value.matchAll(userinfo))
      found.push(password ?? last, ...[user, other].filter(isPiece)); // a token may stand in the place of the user
  if (value.includes("=")) for (const [, one, two, three = ""] of value.matchAll(setting)) found.push(one ?? two ?? three);
  return [...new Set(found.flatMap((text) => [text, decoded(text)]))].filter(isSecretValue);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that is one
  }
}

/** An address that lets whoever knows it in: what stands behind the host is the secret. */
function isSecretAddress(name: string, value: string): boolean {
  const behind = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+[/?#](\S{8,})$/i.exec(value)?.[1] ?? "";
  return behind !== "" && (/webhook/i.test(name) || behind.split(/[/?&=#]/).some(isPiece));
}

/** Is the value of this variable a secret as a whole? `holdsKey` says whether something in it has the shape of a key. */
export function isSecretVariable(name: string, value: string, holdsKey: (value: string) => boolean): boolean {
  if (isGivingName(name) && !isOrdinary(name, value) && (isSecretValue(value) || isSecretAddress(name, value))) return true;
  return holdsPassword(value) || holdsKey(value);
}
