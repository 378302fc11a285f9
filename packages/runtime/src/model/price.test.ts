import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage } from "../protocol/content.ts";
import { addUsd, type Price, priceOf, ratesAt } from "./price.ts";

const now = new Date("2026-10-01T12:00:00Z");
const usage = { ...noUsage, inputTokens: 1_000_000, outputTokens: 100_000 };
const flat = (rates: { input: number; output: number; cacheRead?: number; cacheWrite?: number; cacheWrite1h?: number }) => ({
  price: [{ rates }] as const satisfies Price,
});

describe("the price of a call", () => {
  it("is unknown without facts, and with facts that hold no price", () => {
    assert.equal(priceOf(undefined, usage, now), null);
    assert.equal(priceOf({ price: null }, usage, now), null);
  });

  it("is 0 where the price is 0", () => {
    assert.equal(priceOf(flat({ input: 0, output: 0 }), usage, now), 0);
  });

  it("charges each share of the input once, at its own rate", () => {
    const facts = flat({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 });
    const shares = { ...usage, cacheReadTokens: 600_000, cacheWriteTokens: 300_000 };
    assert.equal(priceOf(facts, shares, now), 0.3 + 0.18 + 1.125 + 1.5);
    assert.equal(priceOf(facts, { ...shares, cacheWrite1hTokens: 100_000 }, now), 0.3 + 0.18 + 0.75 + 0.6 + 1.5);
  });

  it("charges cached input like other input where the cache has no rate", () => {
    const shares = { ...usage, cacheReadTokens: 600_000, cacheWriteTokens: 300_000, cacheWrite1hTokens: 300_000 };
    assert.equal(priceOf(flat({ input: 3, output: 15 }), shares, now), 4.5);
    assert.equal(priceOf(flat({ input: 3, output: 15, cacheWrite: 4 }), shares, now), 4.8);
  });

  it("takes reasoning for a part of the output", () => {
    assert.equal(priceOf(flat({ input: 3, output: 15 }), { ...usage, reasoningTokens: 90_000 }, now), 4.5);
    const facts = { price: [{ rates: { input: 2, output: 8, reasoning: 3 } }] as const };
    assert.equal(priceOf(facts, { ...usage, reasoningTokens: 90_000 }, now), 2 + 0.08 + 0.27);
  });

  it("adds what a request costs by itself", () => {
    assert.equal(priceOf({ price: [{ rates: { input: 1, output: 1, request: 12 } }] }, noUsage, now), 0.012);
  });

  it("charges the whole call at the rates of a tier only above its border", () => {
    const facts = {
      price: [{ rates: { input: 3, output: 15 }, tiers: [tier(200_000, 6, 22.5), tier(500_000, 9, 30)] }] as const,
    };
    const at = (inputTokens: number) => priceOf(facts, { ...noUsage, inputTokens, outputTokens: 1000 }, now);
    assert.deepEqual([200_000, 200_001, 500_000, 500_001].map(at), [0.615, 1.222506, 3.0225, 4.530009]);
  });

  it("is the decimal that exact arithmetic gives, to the picodollar", () => {
    for (const [rate, picos] of [
      [0.0028, 2800n],
      [0.003625, 3625n],
      [0.1, 100_000n],
      [0.435, 435_000n],
      [13.75, 13_750_000n],
    ] as const) {
      for (const tokens of [1, 3, 7, 999, 123_457, 1_000_003, 9_999_991]) {
        const cost = priceOf(flat({ input: rate, output: 0 }), { ...noUsage, inputTokens: tokens }, now);
        assert.equal(cost, Number(BigInt(tokens) * picos) / 1e12, `${tokens} tokens at ${rate}`);
      }
    }
  });
});

describe("the tariff in force", () => {
  const price: Price = [
    { rates: { input: 1, output: 1 } },
    { rates: { input: 2, output: 2 }, from: "2026-08-17" },
    { rates: { input: 3, output: 3 }, daily: [82_800, 3600] },
    { rates: { input: 4, output: 4 }, daily: [21_600, 36_000] },
  ];

  it("is the last one that holds, by day and by hour", () => {
    const inputAt = (at: string) => ratesAt(price, new Date(at)).input;
    assert.deepEqual(
      [
        "2026-08-16T12:00:00Z",
        "2026-08-17T00:00:00+02:00",
        "2026-08-16T23:59:59Z",
        "2026-08-17T00:59:59.999Z",
        "2026-08-17T01:00:00Z",
        "2026-08-17T06:00:00Z",
        "2026-08-17T09:59:59.999Z",
        "2026-08-17T10:00:00Z",
      ].map(inputAt),
      [1, 1, 3, 3, 2, 4, 4, 2],
    );
  });

  it("is the first one when none holds yet", () => {
    const later: Price = [
      { rates: { input: 1, output: 1 }, from: "2027-01-01" },
      { rates: { input: 2, output: 2 }, from: "2028-01-01" },
    ];
    assert.equal(ratesAt(later, now).input, 1);
  });
});

describe("a sum of amounts", () => {
  it("does not drift", () => {
    let sum = 0;
    for (let call = 0; call < 100_000; call++) sum = addUsd(sum, 0.0000028);
    assert.equal(sum, 0.28);
  });
});

function tier(above: number, input: number, output: number) {
  return { above, rates: { input, output } };
}
