import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RateLimits } from "./rate-limits.ts";

function withClock(given: ConstructorParameters<typeof RateLimits>[0]) {
  let now = 1_000_000;
  const limits = new RateLimits(given, () => now);
  return { limits, pass: (ms: number) => (now += ms) };
}

describe("rates of a provider", () => {
  it("hold requests per minute in every minute there is", () => {
    const { limits, pass } = withClock(new Map([["p", { requests: 5 }]]));
    const taken: number[] = [];
    let now = 0;
    while (taken.length < 40) {
      const wait = limits.take("p", 10);
      if (wait === 0) taken.push(now);
      const step = wait === 0 ? 700 : wait;
      pass(step);
      now += step;
    }
    for (const at of taken) assert.ok(taken.filter((other) => other > at - 60_000 && other <= at).length <= 5);
    assert.ok(now < 9 * 60_000, "it does not wait longer than it must");
  });

  it("hold tokens per minute, with what a request really took", () => {
    const { limits, pass } = withClock(new Map([["*", { tokens: 1_000 }]]));
    assert.equal(limits.take("p", 900), 0);
    assert.ok(limits.take("p", 200) > 0);
    limits.ended("p", 900, 300);
    assert.equal(limits.take("p", 200), 0);
    assert.equal(limits.take("q", 5_000), 0, "one that is above the whole limit goes when nothing else does");
    assert.ok(limits.take("q", 1) > 0);
    pass(60_000);
    assert.equal(limits.take("q", 1), 0);
  });

  it("are learned from complaints: a pause, then less than before, then a little more each minute", () => {
    const { limits, pass } = withClock(new Map());
    for (let count = 0; count < 50; count++) assert.equal(limits.take("p", 1), 0);
    limits.throttled("p", 20_000);
    limits.throttled("p", 10_000); // those that were in flight complain too
    assert.equal(limits.take("p", 1), 20_000);
    assert.deepEqual(limits.rates.get("p"), { requests: 40, tokens: undefined });
    pass(61_000);
    assert.equal(limits.take("p", 1), 0);
    assert.deepEqual(limits.rates.get("p"), { requests: 44, tokens: undefined });
    assert.equal(limits.take("other", 1), 0, "others are not meant");
  });

  it("come back after a complaint to what was given, and no higher", () => {
    const { limits, pass } = withClock(new Map([["p", { requests: 10 }]]));
    for (let count = 0; count < 10; count++) assert.equal(limits.take("p", 1), 0);
    limits.throttled("p", 1_000);
    assert.equal(limits.rates.get("p")?.requests, 8);
    pass(3_600_000);
    assert.equal(limits.take("p", 1), 0);
    assert.equal(limits.rates.get("p")?.requests, 10);
  });

  it("are learned from good answers: what is left is not overdrawn, also by requests that are under way", () => {
    const { limits, pass } = withClock(new Map());
    for (let count = 0; count < 3; count++) assert.equal(limits.take("p", 100), 0);
    limits.ended("p", 100, 100);
    limits.told("p", {
      requests: { limit: 50, remaining: 4, resetMs: 30_000 },
      tokens: { limit: 9_000, remaining: 8_000, resetMs: 5_000 },
    });
    assert.deepEqual(limits.rates.get("p"), { requests: 50, tokens: 9_000 });
    assert.deepEqual(
      Array.from({ length: 3 }, () => limits.take("p", 100)),
      [0, 0, 30_000],
      "of the four that are left two are under way",
    );
    pass(30_000);
    assert.equal(limits.take("p", 100), 0);
  });

  it("are never more than what was given, whatever a provider says, and a limit of a day is no rate", () => {
    const { limits } = withClock(new Map([["p", { requests: 5 }]]));
    limits.told("p", {
      requests: { limit: 1_000, remaining: 999, resetMs: 60 },
      tokens: { limit: 9_000_000, remaining: 10, resetMs: 3_600_000 },
    });
    assert.deepEqual(limits.rates.get("p"), { requests: 5, tokens: undefined });
    assert.equal(limits.take("p", 100), 3_600_000);
  });
});
