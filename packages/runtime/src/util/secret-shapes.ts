import { createKeyShapes } from "./key-shapes.ts";
import { literally } from "./secret-texts.ts";

/** One place in a text: a secret of some kind, or `undefined` for what was looked at and is none. */
export type Finding = { readonly start: number; readonly end: number; readonly kind: string | undefined };

/**
 * How a kind of secret is recognised: one of `literals` stands somewhere in or before it, and `find` looks around that place.
 * Every look is bounded or stops where the next one starts, so that the whole search takes time in proportion to the text.
 */
export type SecretShape = {
  readonly literals: readonly string[];
  /** Characters before a literal that make it the end of another word; undefined when it may stand anywhere. */
  readonly notAfter: RegExp | undefined;
  /** Is what begins here certainly a secret, even as the end of another word? Absent where that is never certain. */
  isCertain?(text: string, at: number): boolean;
  find(text: string, at: number): Finding | undefined;
  /** What may stand between a literal and the end of a text that is still being written, if a secret may yet come of it. */
  readonly open: RegExp;
};

export const lettersAndDigits: RegExp = /[A-Za-z0-9]/;

/** By the beginnings that issuers gave their keys so that they can be found, and by the words that stand before a secret. */
export function createSecretShapes(): SecretShape[] {
  return [...createKeyShapes(), ...behindWords.map(toWordShape), userinfo];
}

/** What stands behind a word is hidden, the word is not. Regular expressions in text: they are compiled when the first text comes. */
type WordShape = {
  readonly kind: string;
  readonly words: readonly string[];
  readonly between: string;
  readonly value: string;
  accepts(value: string): boolean;
  /** Letters and digits when absent. */
  readonly notAfter?: RegExp | undefined;
  readonly open?: RegExp;
};

/** Quotes may be escaped, in JSON inside of JSON. */
const quote = "(?:\\\\?[\"'`])?";
const colon = `${quote}[ \\t]{0,4}[:=][ \\t]{0,4}${quote}`;
const setting = "[^\\s\"'`$<>(){}\\[\\];&|\\\\,]{8,}";
const hasDigit = (value: string): boolean => /\d/.test(value);
const looksMade = (value: string): boolean =>
  /\d/.test(value) && /[A-Za-z]/.test(value) && !/^(?:\.{0,2}\/|~|https?:)/.test(value);

const parameter: Omit<WordShape, "words"> = {
  kind: "parameter",
  between: "",
  value: "[\\w.~%+/=-]{12,}",
  accepts: (value) => hasDigit(value) && /[A-Za-z]/.test(value),
};

const behindWords: readonly WordShape[] = [
  {
    kind: "bearer-token",
    words: ["Bearer ", "bearer ", "BEARER "],
    between: "",
    value: "[\\w.~+/-]{12,}={0,2}",
    accepts: hasDigit, // the rest are words: "Bearer authentication"
    open: /^[\w.~+/=-]*$/,
  },
  {
    kind: "basic-auth",
    words: ["Basic ", "basic ", "BASIC "],
    between: "",
    value: "[A-Za-z0-9+/]{8,}={0,2}",
    accepts: (value) => /[A-Z]/.test(value) && Buffer.from(value, "base64").toString("latin1").includes(":"),
    open: /^[\w+/=]*$/,
  },
  {
    kind: "authorization",
    words: ["authorization", "Authorization", "AUTHORIZATION"],
    between: `${colon}(?:Bearer|Basic|Token|ApiKey|Digest)[ \\t]{1,4}`,
    value: "[^\\s\"'`\\\\,;<>{}$()\\[\\]]{6,}",
    accepts: () => true,
  },
  {
    kind: "header",
    words: [
      ...["api-key", "Api-Key", "API-Key", "API-KEY", "auth-token", "Auth-Token", "AUTH-TOKEN"],
      ...["private-token", "Private-Token", "PRIVATE-TOKEN", "authorization", "Authorization", "AUTHORIZATION"],
    ],
    between: colon,
    value: "[\\w.~+/=-]{8,}",
    accepts: (value) => hasDigit(value) && !value.startsWith("AWS4-"), // a signature opens nothing
  },
  {
    kind: "cookie",
    words: ["cookie", "Cookie", "COOKIE"],
    between: `["']?:[ \\t]{0,4}${quote}`,
    value: "[\\w.-]{1,64}=[^\\s;\"'`\\\\{}$<>()]{6,}(?:;[^\"'`\\\\\\r\\n{}$<>()]*)?",
    accepts: () => true,
    open: /^["']?(?::[^\r\n"'`]{0,4096})?$/,
  },
  // As `env` prints them and files of settings hold them.
  {
    kind: "secret",
    words: ["KEY=", "TOKEN=", "SECRET=", "PASSWORD=", "PASSWD=", "CREDENTIALS=", "PASS=", "APIKEY=", "PGPASSWORD="],
    between: quote,
    value: setting,
    accepts: looksMade,
  },
  {
    kind: "password",
    words: ["password=", "Password=", "AccountKey=", "SharedAccessKey="], // connection strings
    between: quote,
    value: setting,
    accepts: looksMade,
  },
  {
    kind: "token",
    words: [
      ...["access_token", "refresh_token", "id_token", "session_token", "client_secret"],
      ...["accessToken", "refreshToken", "SessionToken"],
    ],
    between: `${quote}[ \\t]{0,4}[:=][ \\t]{0,4}\\\\?["']`,
    value: "[\\w.~+/=-]{16,}",
    accepts: hasDigit,
  },
  {
    kind: "aws-secret-key",
    words: ["secretAccessKey", "SecretAccessKey", "secret_access_key", "SECRET_ACCESS_KEY"],
    between: colon,
    value: "[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
    accepts: () => true,
  },
  {
    ...parameter,
    words: [
      ...["api_key=", "apikey=", "apiKey=", "token="],
      ...["signature=", "Signature=", "Security-Token=", "client_secret="],
    ],
  },
  { ...parameter, words: ["?key=", "&key=", "?sig=", "&sig="], notAfter: undefined },
  {
    kind: "webhook",
    words: ["hooks.slack.com/services/"],
    between: "",
    value: "T\\w{6,}/B\\w{6,}/\\w{16,}",
    accepts: () => true,
  },
];

/** Quotes, a colon, perhaps a word like Bearer, and a value that has not ended. */
const openAfterWord = /^["'\\]{0,2}[ \t]{0,4}(?:[:=]?[ \t]{0,4}["'`\\]{0,2}(?:\w{1,16}[ \t]{1,4})?[^\s"'`<>{}()]{0,1024})?$/;

function toWordShape(shape: WordShape): SecretShape {
  const { kind, words, between, value, accepts, open, notAfter } = { notAfter: lettersAndDigits, open: openAfterWord, ...shape };
  let compiled: { gap: RegExp; rest: RegExp } | undefined; // when the first one is looked at: most are never needed
  return {
    literals: words,
    notAfter,
    open,
    find(text, at) {
      compiled ??= { gap: new RegExp(`(?:${words.map(literally).join("|")})${between}`, "iy"), rest: new RegExp(value, "y") };
      const { gap, rest } = compiled;
      gap.lastIndex = at;
      if (!gap.test(text)) return undefined;
      const start = gap.lastIndex;
      rest.lastIndex = start;
      if (!rest.test(text)) return undefined;
      const end = rest.lastIndex;
      return { start, end, kind: accepts(text.slice(start, end)) ? kind : undefined };
    },
  };
}

const password = /:\/\/[^\s/:@"'`<>\\${}[\]]{0,128}:([^\s/@"'`<>\\${}[\]]{6,256})@/y;

/** `scheme://user:password@host`: only the password, and only one that is more than a word in an example. */
const userinfo: SecretShape = {
  literals: ["://"],
  notAfter: undefined,
  open: /^[^\s/@"'`<>]*$/,
  find(text, at) {
    password.lastIndex = at;
    const found = password.exec(text)?.[1];
    if (found === undefined || /^(?:\*+|x+|password|secret|username|postgres|example)$/i.test(found)) return undefined;
    const end = password.lastIndex - 1;
    return { start: end - found.length, end, kind: "password" };
  },
};
