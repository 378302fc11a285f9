import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { providerDefinitions } from "../model/providers/definitions.ts";
import { carefulVariables, modelKeys, scrubEnvironment, userEnvironment } from "./environment.ts";

describe("scrubEnvironment", () => {
  it("drops keys, tokens and secrets by their names, and keeps the rest", () => {
    const secrets =
      "PROVIDER_API_KEY ANTHROPIC_API_KEY OPENAI_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY DB_PASSWORD npm_config__auth NPM_TOKEN SLACK_WEBHOOK_URL STRIPE_SK AZURE_STORAGE_CONNECTION_STRING SSH_AUTH_SOCK";
    const plain = {
      ...{ PATH: "/bin:/opt/a@b/bin", HOME: "/home/u", PWD: "/p", LANG: "C", TOKENIZERS_PARALLELISM: "false", KEYBOARD: "us" },
      GITHUB_SHA: "0123456789abcdef0123456789abcdef01234567",
      GITHUB_SERVER_URL: "https://github.com",
      GIT_AUTHOR_EMAIL: "a@example.com",
      LS_COLORS: "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33",
      NODE_OPTIONS: "--max-old-space-size=4096 --require ./a.js",
      REMOTE: "git@github.com:a/b.git",
    };
    const env = { ...plain, ...Object.fromEntries(secrets.split(" ").map((name) => [name, "s3cret-value-0123"])) };
    assert.deepEqual(scrubEnvironment(env), plain);
  });

  const hidden: Record<string, string> = {
    "a password in an address": "postgres://app:hunter2@db.example.com:5432/app",
    "a short one": "redis://:pw@cache:6379",
    "one with a path behind it": "mongodb+srv://u:p%40ss@cluster0.example.net/db?retryWrites=true",
    "one without a scheme": "user:pass@tcp(127.0.0.1:3306)/db",
    "a connection string": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcdEFGH1234==;EndpointSuffix=x",
    "another one": "Server=db;Database=a;User Id=sa;Password=letmein;",
    "a shared access signature": "https://a.blob.core.windows.net/c?sv=2022&sig=abc%2Bdef",
    "a key of Stripe": "sk_live_0123456789abcdefghij",
    "a key id of AWS": "AKIAIOSFODNN7EXAMPLE",
    "a token of GitHub": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "a token of Slack": "xoxb-0123456789-abcdefghij",
    "a JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "a private key":
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----",
    "a header": "Authorization: Bearer abcdef0123456789",
    "a webhook": "https://discord.com/api/webhooks/123/abcdef",
  };
  for (const [name, value] of Object.entries(hidden))
    it(`drops ${name}, whatever the variable is called`, () =>
      assert.deepEqual(scrubEnvironment({ SETTING: value, PATH: "/bin" }), { PATH: "/bin" }));

  it("keeps numbers, sizes and switches whatever they are called, and addresses without a password", () => {
    const plain = {
      ...{
        MAX_TOKENS: "100",
        TOKEN_LIMIT: "200000",
        SECRET_TTL: "3600s",
        AUTH_ENABLED: "true",
        KEY_SIZE: "2048",
        WEBHOOK_RETRIES: "3",
      },
      ...{ ORIGIN: "ssh://git@host.example/a/b.git", OTHER: "git+ssh://git@host:22/a", SITE: "https://user@host/" },
    };
    assert.deepEqual(scrubEnvironment({ ...plain, DB_PASSWORD: "12345678", A_PIN_SECRET: "1234" }), plain);
  });

  it("reads names in camel case, and that of a header", () => {
    const env = { StripeKey: "abc", githubToken: "abc", slackWebhook: "abc", AUTHORIZATION: "abc", KeyboardLayout: "abc" };
    assert.deepEqual(scrubEnvironment(env), { KeyboardLayout: "abc" });
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

describe("carefulVariables", () => {
  it("names what is missing, and nothing that was empty", () => {
    const { env, withheld } = carefulVariables({ NPM_TOKEN: "npm_x", GH_TOKEN: "ghp_x", EMPTY_TOKEN: "", A: "b" }, [
      "GH_TOKEN",
    ])();
    const quiet = { npm_config_update_notifier: "false", npm_config_logs_max: "0", NO_UPDATE_NOTIFIER: "1" };
    assert.deepEqual([env, withheld], [{ GH_TOKEN: "ghp_x", A: "b", ...quiet }, ["NPM_TOKEN"]]);
  });
});

describe("userEnvironment", () => {
  const key = "sk-ant-0123456789abcdef";

  it("is everything but keys of models, under whatever name they stand", () => {
    const kept = { GH_TOKEN: "ghp_x", AWS_SECRET_ACCESS_KEY: "y", SSH_AUTH_SOCK: "/s", DATABASE_URL: "postgres://a:b@c/d" };
    const env = { ...kept, ANTHROPIC_API_KEY: key, COPY: `x ${key}`, OPENAI_API_KEY: "sk-0", UNSET: undefined };
    assert.deepEqual(userEnvironment(env), kept);
    assert.deepEqual(userEnvironment(env, { keep: ["ANTHROPIC_API_KEY"] }), {
      ...kept,
      ANTHROPIC_API_KEY: key,
      COPY: `x ${key}`,
    });
    assert.deepEqual(userEnvironment({ MY_KEY: key, A: "b" }, { keys: ["MY_KEY"] }), { A: "b" });
  });

  it("knows the variables in which every provider looks for its key", () => {
    const ofClouds = ["AWS_ACCESS_KEY_ID", "GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"];
    const unknown = providerDefinitions
      .flatMap(({ keyVariables }) => keyVariables)
      .filter((name) => !modelKeys.includes(name) && !ofClouds.includes(name));
    assert.deepEqual(unknown, []);
  });
});
