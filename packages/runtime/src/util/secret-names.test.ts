import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSecretName } from "./secret-names.ts";

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
  ...["apikey", "SOME_APIKEYS", "STORAGEACCESSKEY", "OLD_PWD", "DB_PASS", "jwt", "KEY_FILE", "CREDS_PATH"],
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
