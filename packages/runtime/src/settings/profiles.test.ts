import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseProviderSettings, resolveKey, suggestProfileKey } from "./profiles.ts";

const file = "/home/me/.outrider/settings.json";

describe("parseProviderSettings", () => {
  it("reads profiles with every field and leaves options as they are", () => {
    const work = {
      type: "openai",
      model: "gpt-5.5",
      apiKey: "$ENV:WORK_KEY",
      baseURL: "https://gate.example/v1",
      timeout: 60_000,
      contextWindow: 400_000,
      options: { apiSurface: "responses", nested: { list: [1, null, { deep: true }] } },
    };
    const local = { type: "gemma" };
    assert.deepEqual(parseProviderSettings({ currentProvider: "work", providers: { work, local } }, file), {
      currentProvider: "work",
      providers: { work, local },
      provider: undefined,
    });
  });

  it("reads the least there can be", () => {
    const work = { type: "openai", timeout: 1, contextWindow: 1 };
    assert.deepEqual(parseProviderSettings({ providers: { work } }, file).providers, { work });
  });

  it("reads nothing from nothing", () => {
    assert.deepEqual(parseProviderSettings({}, file), { currentProvider: undefined, providers: {}, provider: undefined });
  });

  it("reads the legacy block, whose type may be called name", () => {
    for (const provider of [
      { name: "anthropic", model: "m" },
      { type: "anthropic", model: "m" },
    ]) {
      assert.deepEqual(parseProviderSettings({ provider }, file).provider, { type: "anthropic", model: "m" });
    }
  });

  const profile = (value: unknown) => ({ providers: { work: value } });
  const refused: [what: string, settings: Record<string, unknown>, words: string][] = [
    ["a current provider that is no text", { currentProvider: 3 }, "currentProvider must be the key of a profile"],
    [
      "a current provider without a profile",
      { currentProvider: "wrok", providers: { work: { type: "openai" } } },
      'currentProvider names "wrok", and there is no such profile; did you mean work?',
    ],
    [
      "a current provider that only every object has",
      { currentProvider: "constructor" },
      'currentProvider names "constructor", and there is no such profile',
    ],
    ["profiles that are a list", { providers: [] }, "providers must be an object of profiles"],
    ["profiles that are null", { providers: null }, "providers must be an object of profiles"],
    [
      "a profile that is a text",
      profile("openai"),
      'providers.work must be an object like {"type": "openai", "model": "…", "apiKey": "$ENV:OPENAI_API_KEY"}',
    ],
    ["a profile without a type", profile({ model: "m" }), "providers.work.type must name a provider"],
    ["a type that is a number", profile({ type: 1 }), "providers.work.type must name a provider"],
    [
      "a type nobody knows",
      profile({ type: "opnai" }),
      'providers.work.type: There is no provider "opnai"; did you mean openai?',
    ],
    [
      "a key that is nearly one",
      profile({ type: "openai", baseUrl: "x" }),
      'providers.work has no key "baseUrl"; did you mean baseURL?',
    ],
    [
      "a key that is like none",
      profile({ type: "openai", organization: "x" }),
      'providers.work has no key "organization". Known: type, model, apiKey, baseURL, timeout, contextWindow, options',
    ],
    ["a model that is a number", profile({ type: "openai", model: 5 }), "providers.work.model must be a text"],
    ["a key that is an object", profile({ type: "openai", apiKey: {} }), "providers.work.apiKey must be a text"],
    [
      "a variable without a name",
      profile({ type: "openai", apiKey: "$ENV:" }),
      "providers.work.apiKey must name a variable after $ENV:",
    ],
    [
      "a timeout that is a text",
      profile({ type: "openai", timeout: "5" }),
      "providers.work.timeout must be a whole number above 0",
    ],
    ["a timeout of 0", profile({ type: "openai", timeout: 0 }), "providers.work.timeout must be a whole number above 0"],
    [
      "a timeout longer than any timer",
      profile({ type: "openai", timeout: 2 ** 31 }),
      "providers.work.timeout must be at most 2147483647, which is 24 days",
    ],
    [
      "half a context window",
      profile({ type: "openai", contextWindow: 0.5 }),
      "providers.work.contextWindow must be a whole number above 0",
    ],
    ["options that are a list", profile({ type: "openai", options: [] }), "providers.work.options must be an object"],
    ["a legacy block of an unknown type", { provider: { name: "gtp" } }, 'provider.type: There is no provider "gtp"'],
    ["a legacy block that is null", { provider: null }, "provider must be an object like"],
  ];
  for (const [what, settings, words] of refused) {
    it(`refuses ${what} in one line that begins with the file`, () => {
      assert.throws(
        () => parseProviderSettings(settings, file),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, "config");
          assert.equal(error.message.slice(0, `${file}: ${words}`.length), `${file}: ${words}`);
          assert.doesNotMatch(error.message, /\n/);
          return true;
        },
      );
    });
  }
});

describe("resolveKey", () => {
  it("takes $ENV:NAME from the environment, and everything else as it is", () => {
    const env = { MY_KEY: " secret\n" };
    assert.deepEqual(
      ["$ENV:MY_KEY", "lm-studio", "", undefined].map((key) => resolveKey(key, env, "work")),
      ["secret", "lm-studio", "", undefined],
    );
  });

  it("names the variable that is not set, and the profile that wants it", () => {
    for (const env of [{}, { MY_KEY: "" }, { MY_KEY: "  " }]) {
      assert.throws(() => resolveKey("$ENV:MY_KEY", env, "work"), {
        code: "config",
        message: "The profile work takes its key from the variable MY_KEY, which is not set",
        hint: "export MY_KEY=…",
      });
    }
  });
});

describe("suggestProfileKey", () => {
  const rows: [type: string, model: string | undefined, taken: string[], key: string][] = [
    ["openai", "gpt-4o", [], "gpt-4o"],
    ["qwen", "qwen3.6-plus", [], "qwen3-6-plus"],
    ["openai", "gpt-4o", ["gpt-4o"], "gpt-4o-2"],
    ["openai", "gpt-4o", ["gpt-4o", "gpt-4o-2", "gpt-4o-4"], "gpt-4o-3"],
    ["openai", undefined, [], "openai"],
    ["llama.cpp", undefined, ["llama-cpp"], "llama-cpp-2"],
    ["openai", "模型", [], "openai"],
    ["模型", "模型", [], "provider"],
    ["openai-compatible", "Modèle Français (v2)", [], "modele-francais-v2"],
    ["openrouter", "anthropic/claude-sonnet-4.5", [], "claude-sonnet-4-5"],
    // Whose it is stays out of the key.
    ["fireworks", "accounts/acme-corp/models/tuned-7b", [], "tuned-7b"],
    ["openai", "ft:gpt-4o-mini:acme-corp:support:9xYz", [], "ft-gpt-4o-mini"],
    ["bedrock", "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123", [], "abc123"],
    ["bedrock", "arn:aws:sagemaker:us-east-1:123456789012:endpoint-x", [], "endpoint-x"],
    ["bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", [], "global-anthropic-claude-sonnet-4-5-20250929-v1-0"],
    ["llama.cpp", "/home/alice/models/Qwen3-8B.Q4_K_M.gguf", [], "qwen3-8b-q4-k-m-gguf"],
  ];
  for (const [type, model, taken, key] of rows) {
    it(`calls ${type}/${model} ${key}${taken.length > 0 ? ` beside ${taken.join(", ")}` : ""}`, () => {
      assert.equal(suggestProfileKey({ type, model }, taken), key);
    });
  }
});
