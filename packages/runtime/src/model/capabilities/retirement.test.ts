import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCatalogOverride } from "../catalog-override.ts";
import { capabilitiesFrom } from "./overrides.ts";
import { retirementWarning } from "./retirement.ts";

const now = Date.parse("2026-11-16");
const own = parseCatalogOverride({
  models: [
    { provider: "ollama", model: "mine", capabilities: { retires: "2026-11-20" } },
    { provider: "anthropic", model: "claude-sonnet-4-5", capabilities: { retires: "2028-01-01", efforts: ["low"] } },
    { provider: "anthropic", model: "claude-sonnet-4-5", maxOutputTokens: 9 },
  ],
});

describe("the end of a model", () => {
  const rows: [provider: string, model: string, warning: string | undefined, override?: typeof own][] = [
    [
      "anthropic",
      "claude-sonnet-4-5",
      "claude-sonnet-4-5 is switched off on 2026-11-30; claude-sonnet-5-5 is the newest of its kind",
    ],
    [
      "bedrock",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0 is switched off on 2026-11-30",
    ],
    [
      "openai",
      "o4-mini",
      "o4-mini was switched off on 2026-10-23, as far as was known on 2026-11-15; gpt-6.1-terra is the newest of its kind",
    ],
    ["openai", "gpt-4o", "gpt-4o is switched off on 2027-01-14; gpt-6.1-sol is the newest of its kind"],
    ["openai", "gpt-5.1", undefined],
    ["anthropic", "claude-opus-5-5", undefined],
    ["ollama", "mine", undefined],
    ["ollama", "mine", "mine is switched off on 2026-11-20", own],
    ["anthropic", "claude-sonnet-4-5", undefined, own],
  ];
  for (const [name, model, warning, override] of rows)
    it(`${model} at ${name}${override ? ", with models.json" : ""}: ${warning ? "is warned of" : "is not near"}`, async () =>
      assert.equal(await retirementWarning({ name, model }, { now, override }), warning));
});

describe("capabilities of models.json", () => {
  it("are put together, the later words first", () => {
    const known = capabilitiesFrom(own, "anthropic");
    assert.deepEqual(known?.("Claude-Sonnet-4-5[1m]"), { retires: "2028-01-01", efforts: ["low"], maxOutputTokens: 9 });
    assert.deepEqual([known?.("claude-opus-5"), capabilitiesFrom(own, "openai")], [undefined, undefined]);
  });

  const wrong: [capabilities: object, words: RegExp][] = [
    [{ temprature: "any" }, /unknown field "temprature"\. Did you mean temperature\?/],
    [{ temperature: "hot" }, /capabilities\.temperature must be "any" or "idle" or "none", not "hot"/],
    [{ efforts: "low" }, /capabilities\.efforts must be a list of words/],
    [{ images: 1 }, /capabilities\.images must be true or false/],
    [{ retires: "soon" }, /capabilities\.retires must be a day/],
  ];
  for (const [capabilities, words] of wrong)
    it(`refuse ${JSON.stringify(capabilities)}`, () =>
      assert.throws(() => parseCatalogOverride({ models: [{ provider: "p", model: "m", capabilities }] }), {
        code: "config",
        message: words,
      }));
});
