import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { searchBackend } from "./search-backend.ts";

const settings = (engine: string | undefined, apiKey?: string, url?: string) => ({ webSearch: { engine, apiKey, url } });

describe("who answers searches", () => {
  it("is nobody where the settings name nobody", async () => {
    assert.equal(await searchBackend(settings(undefined), {}), undefined);
  });

  it("is an engine, or a provider of models, with its key from the environment or from the settings", async () => {
    for (const [engine, variable] of [
      ["brave", "BRAVE_API_KEY"],
      ["anthropic", "ANTHROPIC_API_KEY"],
      ["openai", "OPENAI_API_KEY"],
      ["gemini", "GOOGLE_API_KEY"],
    ] as const) {
      assert.ok(await searchBackend(settings(engine), { [variable]: "k" }), engine);
      assert.ok(await searchBackend(settings(engine, "$ENV:OTHER"), { OTHER: "k" }), engine);
      await assert.rejects(searchBackend(settings(engine), {}), /there is no key for it/);
    }
    await assert.rejects(searchBackend(settings("searxng"), {}), /does not say where it is/);
    await assert.rejects(searchBackend(settings("searxng", undefined, "file:///x"), {}), /must be an address/);
  });
});
