import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  admitShared,
  endShared,
  isLimited,
  isSpent,
  noLimits,
  type SharedLimits,
  tellShared,
  throttleShared,
} from "./shared-limits.ts";

const asked = { provider: "p", tokens: 100 };

/** When so many requests that come at once are let through. */
function admitted(limits: SharedLimits, count: number, now: number): { at: number[]; limits: SharedLimits } {
  const at: number[] = [];
  let state = limits;
  for (let index = 0; index < count; index++) {
    const next = admitShared(state, asked, now);
    state = next.limits;
    if (next.admission.type === "go") at.push(now + next.admission.waitMs);
  }
  return { at, limits: state };
}

describe("limits that workers share", () => {
  it("are reached by prices that add up to the budget, whatever their sum is rounded to", () => {
    const spentUsd = Array.from({ length: 10 }, () => 0.005).reduce((sum, price) => sum + price, 0);
    assert.ok(spentUsd < 0.05);
    assert.deepEqual([isSpent({ maxBudgetUsd: 0.05, spentUsd }), isSpent({ maxBudgetUsd: 0.0501, spentUsd })], [true, false]);
  });

  it("hold nobody back while there are none", () => {
    assert.deepEqual(admitted(noLimits, 3, 5_000).at, [5_000, 5_000, 5_000]);
    assert.equal(isLimited(admitted(noLimits, 3, 5_000).limits), false);
  });

  it("let no minute have more requests and tokens than given", () => {
    const limits = { ...noLimits, rates: { p: { requests: 60, tokens: 3_000 } } };
    const { at } = admitted(limits, 100, 0);
    for (const from of at) assert.ok(at.filter((one) => one >= from && one < from + 60_000).length * 100 <= 3_000);
  });

  it("end with the budget", () => {
    const limits = endShared({ ...noLimits, maxBudgetUsd: 1 }, { costUsd: 1 });
    assert.deepEqual(admitShared(limits, asked, 0).admission, { type: "spent" });
  });

  it("learn from complaints: a pause for all, then less than was sent, then more each minute", () => {
    const { limits } = admitted(noLimits, 50, 0);
    const first = throttleShared(limits, { provider: "p", waitMs: 20_000 }, 1_000);
    const second = throttleShared(first, { provider: "p", waitMs: 5_000 }, 1_500);
    assert.equal(isLimited(second), true);
    const { at } = admitted(second, 3, 2_000);
    assert.deepEqual(at.map(Math.round), [21_000, 22_500, 24_000], "51 a minute were too many: now 40");
    const later = admitted(second, 2, 61_000 + 60_000 * 30).at.map(Math.round);
    assert.ok((later[1] ?? 0) - (later[0] ?? 0) < 100, "half an hour without a complaint");
  });

  it("learn from good answers, and wait where nothing is left", () => {
    const told = {
      requests: { limit: 30, remaining: 29, resetMs: 2_000 },
      tokens: { limit: 1_000_000, remaining: 0, resetMs: 4_000 },
    };
    const { at } = admitted(tellShared(noLimits, "p", told, 1_000), 3, 1_000);
    assert.deepEqual(at, [5_000, 7_000, 9_000]);
  });
});
