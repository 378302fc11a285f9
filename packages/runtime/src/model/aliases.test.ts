import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aliases, aliasesAt, homeOf, resolveAlias } from "./aliases.ts";
import { allModels, recordAt } from "./capabilities/chat.ts";
import { listRecords, type ModelRecord } from "./capabilities/record.ts";
import { listModels, loadCatalog } from "./catalog.ts";
import { providerDefinitions } from "./providers/definitions.ts";
import { resolveModel } from "./resolve-model.ts";

describe("defaults", () => {
  /** What is older goes by the day of release, else by the numbers in the name. */
  const isNewer = (one: ModelRecord, other: ModelRecord): boolean => {
    if (one.released && other.released) return one.released > other.released;
    return compareVersions(one.id, other.id) > 0;
  };

  const chosen = [
    ...providerDefinitions.map(({ name, defaultModel }) => [name, defaultModel ?? ""] as const),
    ...Object.values(aliases).flatMap((homes) => Object.entries(homes)),
  ];

  it("are models with a record, at every provider that has records", () => {
    const unknown = chosen.filter(
      ([provider, model]) => model && provider in allModels && recordAt(provider, { model })?.guessed !== undefined,
    );
    assert.deepEqual(unknown, []);
    for (const name of ["anthropic", "openai", "gemini", "deepseek", "mistral", "xai", "qwen", "groq"])
      assert.ok(
        chosen.some(([provider, model]) => provider === name && recordAt(provider, { model })),
        name,
      );
  });

  it("are not older than the newest record of their tier", () => {
    const older = chosen.flatMap(([provider, model]) => {
      const record = recordAt(provider, { model });
      const table = record && allModels[provider];
      if (!table || provider === "groq" || model === "devstral-2512") return []; // open weights; the newest of its own line
      const newer = listRecords(table).filter(
        (other) => other.tier === record.tier && familyOf(other.id) === familyOf(record.id) && isNewer(other, record),
      );
      return newer.map(({ id }) => `${provider}: ${id} is newer than ${model}`);
    });
    assert.deepEqual(older, []);
  });

  it("are not older than any model of their family in the table of prices", async () => {
    const catalog = await loadCatalog();
    const older = ["anthropic", "openai", "gemini", "xai"].flatMap((provider) => {
      const own = chosen.filter(([name]) => name === provider).map(([, model]) => model);
      return listModels(catalog, provider).flatMap(({ id }) =>
        own
          .filter((model) => familyOf(id) !== "" && familyOf(id) === familyOf(model) && compareVersions(id, model) > 0)
          .map((model) => `${provider}: ${id} is newer than ${model}`),
      );
    });
    assert.deepEqual(older, []);
  });

  it("are priced, and retire on no day that is known", async () => {
    const catalog = await loadCatalog();
    for (const [provider, model] of chosen) {
      if (!["anthropic", "openai", "gemini", "deepseek", "mistral", "xai"].includes(provider)) continue;
      assert.ok(listModels(catalog, provider).find(({ id }) => id === model)?.price, `${provider} ${model}`);
      assert.equal(recordAt(provider, { model })?.retires, undefined, model);
    }
  });
});

/** `claude-opus-5-5` → `claude-opus`: names without their numbers. */
function familyOf(id: string): string {
  return (
    /^(claude-(?:opus|sonnet|haiku|fable)|gpt-.*(?:sol|terra|luna|astra)|gemini-.*(?:flash-lite|flash|argon)|grok-\d+\.\d$|mistral-large|qwen.*max)/
      .exec(id)?.[0]
      .replace(/[\d.-]+/g, "-") ?? ""
  );
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((id) => (id.match(/\d+/g) ?? []).filter((digits) => digits.length < 3).map(Number));
  for (let index = 0; index < Math.max(left?.length ?? 0, right?.length ?? 0); index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

describe("a word for a model", () => {
  const env = { ANTHROPIC_DEFAULT_OPUS_MODEL: "claude-opus-4-8", ANTHROPIC_SMALL_FAST_MODEL: "claude-haiku-4-5" };
  const rows: [name: string, provider: string, env: Record<string, string>, model: string | undefined][] = [
    ["sonnet", "anthropic", {}, "claude-sonnet-5-5"],
    ["Opus", "anthropic", {}, "claude-opus-5-5"],
    ["opus", "anthropic", env, "claude-opus-4-8"],
    ["opus", "openrouter", env, "anthropic/claude-opus-5.5"],
    ["haiku", "anthropic", env, "claude-haiku-4-5"],
    ["haiku", "anthropic", { ...env, ANTHROPIC_DEFAULT_HAIKU_MODEL: "claude-haiku-5-5" }, "claude-haiku-5-5"],
    ["haiku", "vertex", {}, "claude-haiku-4-5"],
    ["opusplan", "anthropic", {}, "claude-sonnet-5-5"],
    ["gpt", "openai", {}, "gpt-6.1-sol"],
    ["sonnet", "openai", {}, undefined],
    ["claude-opus-5", "anthropic", {}, undefined],
    ["kimi", "openai-compatible", {}, "kimi-k3.1-pro"],
    ["glm", "openrouter", {}, "z-ai/glm-5.3"],
    ["minimax", "anthropic", {}, undefined],
    ["astra", "openai", {}, "gpt-6-astra"],
  ];
  for (const [name, provider, variables, model] of rows)
    it(`${name} is ${model ?? "nothing"} at ${provider}${Object.keys(variables).length > 0 ? ", as the environment says" : ""}`, () =>
      assert.equal(resolveAlias(name, provider, variables), model));

  const long: [name: string, model: string, warning?: RegExp][] = [
    ["sonnet[1m]", "claude-sonnet-5-5"],
    ["claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"],
    ["claude-haiku-4-5[1m]", "claude-haiku-4-5", /no window of a million tokens/],
    ["haiku[1m]", "claude-haiku-5-5[1m]"],
    ["my-model[1m]", "my-model"],
  ];
  for (const [name, model, warning] of long)
    it(`${name} asks for ${model}`, () => {
      const resolved = resolveModel(name, { provider: "anthropic", usual: "claude-opus-5" });
      assert.equal(resolved.model, model);
      assert.match(resolved.warning ?? "", warning ?? /^$/);
    });

  it("is the provider's own model, and a warning, where it has no such family", () => {
    assert.deepEqual(resolveModel("opus", { provider: "groq", usual: "openai/gpt-oss-120b" }), {
      model: "openai/gpt-oss-120b",
      warning: "groq has no model called opus: openai/gpt-oss-120b is asked",
    });
  });

  it("is listed with its model", () => {
    assert.deepEqual(
      aliasesAt("anthropic").map(({ word }) => word),
      ["sonnet", "opus", "haiku", "fable", "opusplan", "best"],
    );
  });

  it("and an id tell whose model it is", () => {
    const homes = [
      "gpt-5.5",
      "o3",
      "claude-x",
      "gemini-4-argon",
      "grok-4.7",
      "deepseek-flash",
      "qwen3.8-max",
      "opus",
      "llama3",
      "gpt-oss-20b",
    ];
    assert.deepEqual(homes.map(homeOf), [
      "openai",
      "openai",
      "anthropic",
      "gemini",
      "xai",
      "deepseek",
      "qwen",
      "anthropic",
      undefined,
      undefined,
    ]);
  });
});
