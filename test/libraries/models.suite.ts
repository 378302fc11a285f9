import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createAnthropic as createAnthropic2 } from "ai-sdk-anthropic-2";
import type { LanguageModelV4 } from "ai-sdk-provider-4";
import { createQuery, fromAiSdk } from "@outrider/runtime";
import { startModelServer } from "@outrider/runtime/testing";

describe("a model of the AI SDK", () => {
  for (const [version, create] of [
    ["v2", createAnthropic2],
    ["v3", createAnthropic],
  ] as const)
    it(`answers as a provider: specification ${version}`, async () => {
      const server = await startModelServer({ replies: [{ text: "Good morning." }] });
      after(() => server.close());
      const model = create({ baseURL: `${server.url}/v1`, apiKey: "k" })("claude-haiku-4-5");
      assert.equal(model.specificationVersion, version);
      const query = createQuery({ provider: fromAiSdk(model), bare: true });
      assert.equal(await query("Greet me."), "Good morning.");
    });

  it("of specification v4 is taken by the compiler; its packages need a newer Node", () => {
    const typed = (model: LanguageModelV4) => fromAiSdk(model);
    assert.equal(typeof typed, "function");
  });
});
