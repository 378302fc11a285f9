import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelOverride } from "../../model/catalog-override.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import type { SessionOptions } from "../session-options.ts";
import { claudeModels } from "../../model/capabilities/claude.ts";
import { listRecords } from "../../model/capabilities/record.ts";
import { windowOf } from "./context-window.ts";
import { lookUpWindow, openBudget } from "./model-limits.ts";

function optionsWith(models: readonly ModelOverride[] = []): SessionOptions {
  const provider = { ...createScriptedProvider([]), contextWindow: 128_000, contextWindowIsGuess: true };
  return { cwd: "/", provider, ...(models.length > 0 && { catalogOverride: { models: [...models] } }) };
}

describe("the window of a model", () => {
  it("is the maker's, but not beyond where requests are refused or cost a multiple, and what the user says before all", async () => {
    const asked: [provider: string, id: string, window: number][] = [
      ["anthropic", "claude-sonnet-5-5", 1_000_000],
      ["anthropic", "claude-sonnet-4-5", 200_000],
      ["anthropic", "claude-sonnet-4-5[1m]", 1_000_000],
      ["openai", "gpt-6.1-sol", 272_000], // twice the price above
      ["openai", "gpt-7-sol", 272_000],
      ["anthropic", "claude-haiku-5-5", 100_000], // five times the price above
      ["anthropic", "claude-haiku-5-5[1m]", 1_000_000],
      ["gemini", "gemini-3.1-pro-preview", 200_000],
      ["xai", "grok-4.7", 200_000],
      ["minimax", "MiniMax-M3", 512_000],
      ["azure", "gpt-5.2", 272_000], // 400,000 with the answer: no more than this goes in
      ["openrouter", "openai/gpt-5.5", 272_000],
      ["openai", "o3", 200_000],
      ["openai", "gpt-4o-mini", 128_000],
      ["gemini", "gemini-4-argon", 1_048_576],
      ["moonshot", "kimi-k3.1-pro", 1_048_576],
      ["groq", "llama-3.1-8b-instant", 131_072], // only the record knows it
      ["ollama", "nobody-knows", 128_000],
    ];
    const found = await Promise.all(asked.map(([provider, id]) => windowOf(optionsWith(), { provider, id })));
    assert.deepEqual(
      found,
      asked.map(([, , window]) => window),
    );
    const own = optionsWith([{ provider: "openai", model: "gpt-6.1-sol", contextWindow: 1_050_000 }]);
    assert.equal(await windowOf(own, { provider: "openai", id: "gpt-6.1-sol" }), 1_050_000);
    const smaller = optionsWith([{ provider: "anthropic", model: "claude-sonnet-5-5", contextWindow: 150_000 }]);
    assert.equal(await windowOf(smaller, { provider: "anthropic", id: "claude-sonnet-5-5" }), 150_000);
  });

  it("is the same for Claude's models whether their record or the tables of all models are asked", async () => {
    const models = listRecords(claudeModels).map(({ id }) => ({ provider: "anthropic", id }));
    assert.ok(models.length > 10);
    const quick = await Promise.all(models.map((model) => windowOf(optionsWith(), model)));
    const whole = await Promise.all(models.map((model) => lookUpWindow(optionsWith(), model)));
    assert.deepEqual(quick, whole);
  });
});

describe("a budget", () => {
  it("is spent faster above the size where the price rises", async () => {
    const model = { provider: "anthropic", id: "claude-haiku-5-5" };
    const spent = async (inputTokens: number): Promise<number> => {
      const budget = await openBudget(optionsWith(), 10, model);
      const usage = { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      budget.spend({ role: "assistant", content: [], finish: "stop", usage, model }, model.id);
      return Number((10 - budget.remainingUsd()).toFixed(6));
    };
    assert.deepEqual([await spent(100_000), await spent(200_000)], [0.01, 0.1]);
  });
});
