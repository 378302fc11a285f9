import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactMcNemar, wilson } from "./statistics.ts";

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

describe("the statistics of a batch", () => {
  it("has intervals as the literature has them", () => {
    // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    const known = [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ] as const;
    for (const [passed, results, low, high] of known) {
      const interval = wilson(passed, results);
      assert.deepEqual([rounded(interval.low), rounded(interval.high)], [low, high]);
    }
    assert.deepEqual(wilson(0, 0), { low: 0, high: 1 });
  });

  it("tests pairs exactly, also of large batches", () => {
    assert.equal(exactMcNemar(0, 0), 1);
    assert.equal(rounded(exactMcNemar(0, 5)), 0.0625);
    assert.equal(rounded(exactMcNemar(1, 9)), 0.0215);
    assert.equal(exactMcNemar(9, 1), exactMcNemar(1, 9));
    assert.equal(exactMcNemar(5, 5), 1);
    assert.ok(exactMcNemar(4_000, 6_000) < 1e-80);
    assert.ok(exactMcNemar(5_000, 5_010) > 0.9);
  });
});
