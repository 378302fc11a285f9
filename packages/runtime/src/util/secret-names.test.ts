import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPlainSetting, isSecretName, isSecretValue, secretsIn, wordsOf } from "./secret-names.ts";

const secrets = [
  ...[
    "GITHUB_TOKEN",
    "OPENAI_API_KEY",
    "PGPASSWORD",
    "npm_config__auth",
    "aws.secret",
    "my-pat",
    "Session_Cookies",
    "SENTRY_DSN",
  ],
  ...[
    "apikey",
    "SOME_APIKEYS",
    "STORAGEACCESSKEY",
    "OLD_PWD",
    "DB_PASS",
    "jwt",
    "KEY_FILE",
    "CREDS_PATH",
    "AUTHORIZATION",
    "proxy-authorization",
  ],
];
const others = [
  "PATH",
  "PWD",
  "OLDPWD",
  "TOKENIZERS_PARALLELISM",
  "KEYBOARD",
  "MONKEY",
  "AUTHOR",
  "PATTERN",
  "COMPASS",
  "HOME",
  "",
];

describe("the name of a variable", () => {
  it("says whether it holds a secret, in any spelling", () => {
    const spellings = (name: string): string[] => [name, name.toUpperCase(), name.toLowerCase()];
    assert.deepEqual(
      secrets.flatMap(spellings).filter((name) => !isSecretName(name)),
      [],
    );
    assert.deepEqual(others.flatMap(spellings).filter(isSecretName), []);
  });
});

describe("names in camel case", () => {
  it("are read word by word", () => {
    assert.deepEqual(["StripeKey", "myGitHubPAT", "SSHKey", "db2Pass", "a.bC-d_e"].map(wordsOf), [
      ["STRIPE", "KEY"],
      ["MY", "GIT", "HUB", "PAT"],
      ["SSH", "KEY"],
      ["DB2", "PASS"],
      ["A", "B", "C", "D", "E"],
    ]);
    assert.deepEqual(
      ["StripeKey", "myGitHubPAT", "SSHKey", "sessionCookie", "loginJwt"].filter((name) => !isSecretName(name)),
      [],
    );
    assert.deepEqual(["monkeyPatch", "KeyboardLayout", "authorName", "Tokenizers", "patchLevel"].filter(isSecretName), []);
  });
});

describe("a value", () => {
  it("gives something away, or is a word, a number, a path or an address", () => {
    const giving = [
      "a1b2c3d4",
      "abcdefghijklmnop",
      "1234567890123456",
      "https://u:pw@host",
      "https://0123456789abcdef@host/1",
      `/x/${"a1".repeat(12)}`,
    ];
    const plain = [
      ...["a1b2c3d", "abcdefghijklmno", "123456789012345", "~/.ssh/id_file", "../some/where", "https://host/path?x=1"],
      ...["ssh://git@host/a/b.git", "git+ssh://git@host:22/a", "https://abcdefghijklmno@host"],
    ];
    assert.deepEqual(
      giving.filter((value) => !isSecretValue(value)),
      [],
    );
    assert.deepEqual(plain.filter(isSecretValue), []);
    assert.deepEqual(secretsIn({ A_TOKEN: "a1b2c3d4", B_TOKEN: "true", C: "a1b2c3d4e5", D_TOKEN: undefined }), ["a1b2c3d4"]);
  });

  it("is a plain setting when it is a number, a size or a switch, unless it may be a password", () => {
    const plain = [
      "100",
      "-1",
      "+5",
      "0.25",
      "123456789",
      "64k",
      "10MiB",
      "2GB",
      "500ms",
      "30s",
      "12h",
      "7d",
      "80%",
      "TRUE",
      "off",
      "enable",
      "disabled",
      "auto",
    ];
    assert.deepEqual(
      plain.filter((value) => !isPlainSetting("TOKEN_LIMIT", value)),
      [],
    );
    const others = ["", "1234567890", "0x10", "100 tokens", "a1", "truest", "untrue", "1.2.3", "x100", "100x"];
    assert.deepEqual(
      others.filter((value) => isPlainSetting("TOKEN_LIMIT", value)),
      [],
    );
    const passwords = ["DB_PASS", "PGPASSWORD", "PASSWD", "PASSPHRASE", "X_PWD", "CARD_PIN", "OTP", "client_secret"];
    assert.deepEqual(
      passwords.filter((name) => isPlainSetting(name, "123456")),
      [],
    );
    assert.equal(isPlainSetting("SECRET_TTL", "3600"), true);
  });
});
