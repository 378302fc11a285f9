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

  it("drops values that hold a secret of another variable", () => {
    const token = "glcbt-64_0123456789";
    const env = {
      CI_JOB_TOKEN: token,
      CI_REPOSITORY_URL: `https://gitlab-ci-token:${token}@gitlab.example.com/a/b.git`,
      CI_PROJECT_URL: "https://gitlab.example.com/a/b",
      SHORT_KEY: "a1b2c3d4",
      NAME: "has a1b2c3d4 by chance",
    };
    const { CI_PROJECT_URL, NAME } = env;
    assert.deepEqual(scrubEnvironment(env), { CI_PROJECT_URL, NAME });
    assert.deepEqual(scrubEnvironment(env, ["CI_REPOSITORY_URL"])["CI_REPOSITORY_URL"], env.CI_REPOSITORY_URL);
  });

  it("passes on what is asked for by name", () => {
    assert.deepEqual(scrubEnvironment({ NPM_TOKEN: "a", GITHUB_TOKEN: "b", UNSET: undefined }, ["NPM_TOKEN"]), {
      NPM_TOKEN: "a",
    });
  });
});
