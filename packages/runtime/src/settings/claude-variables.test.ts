import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compactionVariables } from "./claude-variables.ts";

describe("variables that say when a conversation is summarised", () => {
  it("switch it off, or give the percent of the window, from 5 to 100", () => {
    const percent = (CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: string): unknown =>
      compactionVariables({ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE });
    assert.deepEqual(["4", "5", "80", "100", "101", "half"].map(percent), [
      undefined,
      { threshold: 0.05 },
      { threshold: 0.8 },
      { threshold: 1 },
      undefined,
      undefined,
    ]);
    assert.deepEqual(
      [{}, { DISABLE_COMPACT: "1" }, { DISABLE_AUTO_COMPACT: "true" }, { DISABLE_COMPACT: "0" }].map(compactionVariables),
      [undefined, { threshold: false }, { threshold: false }, undefined],
    );
  });
});
