import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scrubEnvironment } from "./environment.ts";

describe("scrubEnvironment", () => {
  it("drops keys, tokens and secrets by their names, and keeps the rest", () => {
    const secrets =
      "PROVIDER_API_KEY ANTHROPIC_API_KEY OPENAI_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY DB_PASSWORD npm_config__auth NPM_TOKEN";
    const plain = { PATH: "/bin", HOME: "/home/u", PWD: "/p", LANG: "C", TOKENIZERS_PARALLELISM: "false", KEYBOARD: "us" };
    const env = { ...plain, ...Object.fromEntries(secrets.split(" ").map((name) => [name, "s3cret-value-0123"])) };
    assert.deepEqual(scrubEnvironment(env), plain);
  });

  it("passes on what is asked for by name", () => {
    assert.deepEqual(scrubEnvironment({ NPM_TOKEN: "a", GITHUB_TOKEN: "b", UNSET: undefined }, ["NPM_TOKEN"]), {
      NPM_TOKEN: "a",
    });
  });
});
