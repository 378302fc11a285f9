import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { calcPrice, type MatchLogic, type ModelInfo, type Provider, waitForUpdate } from "@pydantic/genai-prices";
import { build } from "esbuild";
import { type Catalog, findModel, listModels, loadCatalog, nearestModel, withOverride } from "./catalog.ts";
import { type BilledUsage, priceOf, ratesAt } from "./price.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const now = new Date("2026-10-01T12:00:00Z");

let catalog: Catalog;
let providers: Provider[];
before(async () => {
  catalog = await loadCatalog();
  providers = (await waitForUpdate()) ?? [];
});

describe("the generated table", () => {
  it("is what the script writes", async () => {
    await promisify(execFile)(process.execPath, [join(root, "scripts/generate-catalog.mjs"), "--check"]);
  });

  it("knows the day of its prices", () => {
    assert.match(catalog.asOf, /^20\d\d-\d\d-\d\d$/);
  });

  it("is loaded by nothing before it is asked for, and stays small", async () => {
    const bundle = await build({
      entryPoints: ["catalog", "ledger", "price", "catalog-override"].map((name) =>
        join(root, `packages/runtime/src/model/${name}.ts`),
      ),
      bundle: true,
      splitting: true,
      minifySyntax: true,
      minifyWhitespace: true,
      format: "esm",
      platform: "node",
      outdir: join(root, ".cache/never-written"),
      write: false,
      metafile: true,
    });
    const outputs = Object.values(bundle.metafile.outputs);
    const [chunk, ...others] = outputs.filter(({ inputs }) =>
      Object.keys(inputs).some((path) => path.endsWith("catalog-data.ts")),
    );
    assert.ok(chunk && others.length === 0);
    assert.equal(Object.keys(chunk.inputs).length, 1);
    assert.ok(chunk.bytes < 150_000, `${chunk.bytes} bytes`);
    const importers = outputs.flatMap(({ imports }) => imports.filter(({ path }) => /catalog-data/.test(path)));
    assert.deepEqual([...new Set(importers.map(({ kind }) => kind))], ["dynamic-import"]);
    const rest = outputs.filter((output) => output !== chunk).reduce((sum, { bytes }) => sum + bytes, 0);
    assert.ok(rest < 15_000, `${rest} bytes`);
  });
});

describe("prices", () => {
  it("agree with the source's own calculation, for every model, at random times and usages", () => {
    const random = seeded(42);
    let compared = 0;
    for (const provider of providers) {
      for (const model of provider.models) {
        for (const name of namesOf(model, random)) compared += compare(provider, name, random);
      }
    }
    assert.ok(compared > 3000, `${compared} prices compared`);
  });

  it("are unknown for unknown models, unknown providers and servers of one's own", () => {
    const unknown = [
      ["anthropic", "claude-which-never-was"],
      ["nobody", "gpt-5"],
      ["constructor", "gpt-5"],
      ...["ollama", "lmstudio", "llama.cpp", "vllm", "gemma", "openai-compatible", "scripted"].map((name) => [name, "gpt-5"]),
    ];
    for (const [provider = "", model = ""] of unknown) assert.equal(findModel(catalog, { provider, model }), undefined, provider);
  });

  it("are 0 only where the name says free, not where nobody wrote them down", () => {
    const usage = randomUsage(seeded(3));
    const free = listModels(catalog).filter(({ price }) => price && priceOf({ price }, usage, now) === 0);
    assert.deepEqual(
      free.filter(({ id }) => !id.endsWith(":free")),
      [],
    );
    assert.ok(free.length > 50);
    assert.equal(findModel(catalog, { provider: "gemini", model: "gemma-3-27b-it" })?.price, null);
  });
});

describe("a model", () => {
  const inputRate = (provider: string, model: string) => {
    const price = findModel(catalog, { provider, model })?.price;
    return price && ratesAt(price, now).input;
  };

  it("is known with its window and all its rates", () => {
    assert.deepEqual(findModel(catalog, { provider: "anthropic", model: "claude-sonnet-4-5-20250929" }), {
      provider: "anthropic",
      id: "claude-sonnet-4-5",
      contextWindow: 200_000,
      price: [
        {
          rates: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 },
          tiers: [{ above: 200_000, rates: { input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5, cacheWrite1h: 12 } }],
        },
      ],
      priceFrom: "table",
    });
  });

  it("costs more where its maker says so: the whole request, above so many tokens", () => {
    const cliffs: [provider: string, model: string, above: number, input: number, output: number][] = [
      ["anthropic", "claude-haiku-5-5", 100_000, 0.5, 2.5],
      ["google", "gemini-3.1-pro-preview", 200_000, 4, 18],
      ["google", "gemini-2.5-pro", 200_000, 2.5, 15],
      ["openai", "gpt-6.1-sol", 272_000, 4, 15],
      ["xai", "grok-4.7", 200_000, 4, 12],
    ];
    const costOf = (provider: string, model: string, inputTokens: number): number | null =>
      priceOf(
        findModel(catalog, { provider, model }),
        { inputTokens, outputTokens: 1_000_000, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
        now,
      );
    for (const [provider, model, above, input, output] of cliffs) {
      const price = findModel(catalog, { provider, model })?.price;
      assert.ok(price, model);
      const { input: low, output: cheap } = ratesAt(price, now);
      assert.equal(costOf(provider, model, above), (above * low) / 1e6 + cheap, model);
      assert.equal(costOf(provider, model, above + 1_000_000), ((above + 1_000_000) * input) / 1e6 + output, model);
    }
  });

  it("is found under the names our providers use", () => {
    const known: [provider: string, model: string, input: number][] = [
      ["anthropic", "CLAUDE-HAIKU-4-5", 1],
      ["openai", "gpt-4o-2024-08-06", 2.5],
      ["gemini", "gemini-2.5-pro", 1.25],
      ["gemini", "models/gemini-2.5-pro", 1.25],
      ["vertex", "publishers/google/models/gemini-2.5-pro", 1.25],
      ["vertex", "claude-sonnet-4-5@20250929", 3],
      ["bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3],
      ["azure", "gpt-4o", 2.5],
      ["openrouter", "anthropic/claude-sonnet-4.5", 3],
      ["xai", "grok-4", 3],
      ["deepseek", "deepseek-chat", 0.27],
      ["groq", "llama-3.3-70b-versatile", 0.59],
      ["mistral", "mistral-large-latest", 2],
      ["together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", 0.88],
      ["fireworks", "accounts/fireworks/models/deepseek-v3p2", 0.56],
      ["moonshot", "kimi-k2-0905-preview", 0.6],
    ];
    assert.deepEqual(
      known.map(([provider, model]) => [provider, model, inputRate(provider, model)]),
      known,
    );
  });

  it("of Qwen's is known by its window alone: the source has no prices of theirs", () => {
    const { price, contextWindow } = findModel(catalog, { provider: "qwen", model: "qwen3-max" }) ?? {};
    assert.deepEqual({ price, contextWindow }, { price: null, contextWindow: 262_144 });
  });

  it("has the window of the same model elsewhere where its provider's entry has none", () => {
    assert.equal(findModel(catalog, { provider: "gemini", model: "gemini-2.5-pro" })?.contextWindow, 1_048_576);
    assert.equal(findModel(catalog, { provider: "openrouter", model: "deepseek/deepseek-v4-pro" })?.contextWindow, 1_000_000);
  });

  it("is suggested for a name that is nearly its own", () => {
    assert.equal(nearestModel(catalog, "anthropic", "claude-sonet-4-5"), "claude-sonnet-4-5");
    assert.equal(nearestModel(catalog, "openrouter", "anthropic/claude-sonet-4.5"), "anthropic/claude-sonnet-4.5");
    assert.equal(nearestModel(catalog, "anthropic", "something else entirely"), undefined);
    assert.equal(nearestModel(catalog, "ollama", "llama3"), undefined);
  });
});

describe("a list of models", () => {
  it("holds what can be found again by its own id", () => {
    const lost = listModels(catalog).filter(({ provider, id }) => findModel(catalog, { provider, model: id })?.id !== id);
    assert.deepEqual(
      lost.map(({ provider, id }) => `${provider} ${id}`),
      [],
    );
  });

  it("names providers as we do, each once", () => {
    const names = [...new Set(listModels(catalog).map(({ provider }) => provider))];
    assert.deepEqual(
      ["anthropic", "bedrock", "gemini", "moonshot", "xai", "google", "vertex", "aws", "x-ai", "qwen"].map((name) =>
        names.includes(name),
      ),
      [true, true, true, true, true, false, false, false, false, false],
    );
    assert.deepEqual(names, [...names].sort());
  });

  it("is one provider's on request, with its override", () => {
    const own = withOverride(catalog, {
      models: [
        { provider: "xai", model: "GROK-4-0709", contextWindow: 7 },
        { provider: "xai", model: "grok-of-mine", contextWindow: 8 },
        { provider: "ollama", model: "llama3", price: { input: 0, output: 0 } },
      ],
    });
    const windows = listModels(own, "xai").filter(({ contextWindow = 0 }) => contextWindow < 10);
    assert.deepEqual(
      windows.map(({ id, contextWindow }) => [id, contextWindow]),
      [
        ["GROK-4-0709", 7],
        ["grok-of-mine", 8],
      ],
    );
    assert.equal(listModels(own, "xai").length, listModels(catalog, "xai").length + 1);
    assert.deepEqual(
      listModels(own, "ollama").map(({ id }) => id),
      ["llama3"],
    );
    assert.ok(listModels(own).some(({ provider }) => provider === "ollama"));
  });
});

describe("an override", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

  it("wins over the table field by field", () => {
    const own = withOverride(catalog, {
      models: [
        { provider: "anthropic", model: "claude-haiku-4-5", price: { input: 9, output: 9 } },
        { provider: "anthropic", model: "claude-opus-5", maxOutputTokens: 64_000 },
      ],
    });
    const haiku = findModel(own, { provider: "anthropic", model: "Claude-Haiku-4-5" });
    assert.deepEqual(haiku, {
      provider: "anthropic",
      id: "claude-haiku-4-5",
      contextWindow: 200_000,
      price: [{ rates: { input: 9, output: 9 } }],
      priceFrom: "override",
    });
    assert.equal(priceOf(haiku, usage, now), 9);
    const opus = findModel(own, { provider: "anthropic", model: "claude-opus-5" });
    assert.deepEqual([opus?.maxOutputTokens, priceOf(opus, usage, now), opus?.priceFrom], [64_000, 5, "table"]);
  });

  it("gives a local model the price the user says, also 0", () => {
    const own = withOverride(catalog, {
      models: [
        { provider: "ollama", model: "qwen3:8b", contextWindow: 32_768, price: { input: 0, output: 0 } },
        { provider: "vllm", model: "mine", contextWindow: 8192 },
      ],
    });
    assert.equal(priceOf(findModel(own, { provider: "ollama", model: "qwen3:8b" }), usage, now), 0);
    assert.deepEqual(findModel(own, { provider: "vllm", model: "mine" }), {
      provider: "vllm",
      id: "mine",
      contextWindow: 8192,
      price: null,
      priceFrom: "table",
    });
    assert.equal(findModel(own, { provider: "ollama", model: "mine" }), undefined);
  });

  it("given later wins over an earlier one, and leaves the catalog it was given as it was", () => {
    const price = (input: number) => ({ models: [{ provider: "a", model: "b", price: { input, output: 0 } }] });
    const window = { models: [{ provider: "a", model: "b", contextWindow: 5 }] };
    const own = [price(1), price(2), window].reduce(withOverride, catalog);
    assert.deepEqual(listModels(own, "a"), [findModel(own, { provider: "a", model: "b" })]);
    assert.equal(priceOf(findModel(own, { provider: "a", model: "b" }), usage, now), 2);
    assert.equal(findModel(own, { provider: "a", model: "b" })?.contextWindow, 5);
    assert.equal(findModel(catalog, { provider: "a", model: "b" }), undefined);
  });
});

/** 1 when both have a price and agree; fails when they do not, or when only one has. */
function compare(provider: Provider, name: string, random: () => number): number {
  const usage = randomUsage(random);
  const at = new Date(Date.parse("2025-01-01") + Math.floor(random() * 900 * 86_400_000));
  const ours = priceOf(findModel(catalog, { provider: provider.id, model: name }), usage, at);
  const theirs = calcPrice(
    {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      cache_write_1h_tokens: usage.cacheWrite1hTokens ?? 0,
      output_reasoning_tokens: usage.reasoningTokens,
    },
    name,
    { providerId: provider.id, timestamp: at },
  );
  const label = `${provider.id} ${name} at ${at.toISOString()} with ${JSON.stringify(usage)}`;
  if (ours === null) {
    const noRates = theirs === null || theirs.model_price["output_mtok"] === undefined;
    assert.ok(noRates, `${label}: the source says ${theirs?.total_price}`);
    return 0;
  }
  assert.ok(theirs, `${label}: the source has no price, we say ${ours}`);
  const tolerance = Math.max(1e-12, 1e-9 * theirs.total_price);
  assert.ok(Math.abs(ours - theirs.total_price) <= tolerance, `${label}: ${ours} is not ${theirs.total_price}`);
  return 1;
}

/** What a model may be called: its id, the texts its rules look for, and those with something around them. */
function namesOf(model: ModelInfo, random: () => number): string[] {
  const names = [model.id, ...textsOf(model.match)];
  const around = ["-20250929", "-2025-09-29", "-latest", ":free", "-v1:0", "@20250929", ""];
  const suffix = around[Math.floor(random() * around.length)] ?? "";
  return [...names, ...names.map((name) => name + suffix), ...names.map((name) => `us.${name.toUpperCase()}`)];
}

function textsOf(rule: MatchLogic): string[] {
  if ("or" in rule) return rule.or.flatMap(textsOf);
  if ("and" in rule) return rule.and.flatMap(textsOf);
  return Object.values(rule);
}

function randomUsage(random: () => number): BilledUsage {
  const upTo = (limit: number) => Math.floor(random() * limit);
  const inputTokens = 1 + upTo(random() < 0.3 ? 1_000_000 : 20_000);
  const outputTokens = 1 + upTo(20_000);
  const cacheReadTokens = upTo(inputTokens / 2);
  const cacheWriteTokens = upTo(inputTokens / 2);
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: random() < 0.5 ? 0 : upTo(cacheWriteTokens),
    reasoningTokens: upTo(outputTokens),
  };
}

/** The same numbers in every run, so that a failure can be seen again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
