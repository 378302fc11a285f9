import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CompactionBreaker } from "./compaction-breaker.ts";
import { checkThreshold, limitsOf } from "./compaction-limits.ts";

describe("how full a context may get", () => {
  it("keeps room for the answer: what is asked for, up to half of the window", () => {
    assert.deepEqual(limitsOf(100_000, 0.5, {}), { window: 100_000, hard: 90_000, limit: 50_000 });
    assert.deepEqual(limitsOf(1_000_000, 1, {}), { window: 1_000_000, hard: 980_000, limit: 980_000 });
    assert.deepEqual(limitsOf(100_000, false, { maxOutputTokens: 30_000, thinkingTokens: 10_000 }), {
      window: 100_000,
      hard: 60_000,
      limit: 60_000,
    });
    assert.equal(limitsOf(100_000, 0.9, { thinkingTokens: 80_000 }).hard, 50_000);
    assert.equal(limitsOf(100_000, 0.9, { maxOutputTokens: 1 }).hard, 99_999);
  });

  it("is a share above nothing and at most the whole", () => {
    assert.deepEqual([checkThreshold(1), checkThreshold(0.01), checkThreshold(false)], [1, 0.01, false]);
    for (const wrong of [0, -0.1, 1.01, Number.NaN]) assert.throws(() => checkThreshold(wrong), { code: "config" });
  });
});

describe("CompactionBreaker", () => {
  it("stops after the third failure, for a minute", () => {
    let now = 1_000_000;
    const breaker = new CompactionBreaker(() => now);
    breaker.failed();
    breaker.failed();
    assert.equal(breaker.isOpen(), false);
    breaker.failed();
    assert.equal(breaker.isOpen(), true);
    now += 59_999;
    assert.equal(breaker.isOpen(), true);
    now += 1;
    assert.deepEqual([breaker.isOpen(), breaker.failures], [false, 0]);
  });

  it("forgets failures when one went well, and counts stored ones from their own time", () => {
    const breaker = new CompactionBreaker(() => 100_000);
    for (let count = 0; count < 2; count++) breaker.failed();
    breaker.succeeded();
    breaker.failed();
    assert.deepEqual([breaker.isOpen(), breaker.failures], [false, 1]);
    for (let count = 0; count < 2; count++) breaker.failed(40_000);
    assert.equal(breaker.isOpen(), false);
    for (let count = 0; count < 3; count++) breaker.failed(40_001);
    assert.equal(breaker.isOpen(), true);
  });
});
