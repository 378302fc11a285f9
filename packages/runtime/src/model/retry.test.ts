import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { defaultRetryPolicy as policy, giveUp, retryDelay } from "./retry.ts";

const transient = new RuntimeError("provider-unavailable", "down", { retryable: true });
const after = (retryAfterMs: number): RuntimeError =>
  new RuntimeError("provider-rate-limit", "busy", { retryable: true, retryAfterMs });

describe("retryDelay", () => {
  it("doubles from half a second to 32 seconds, then gives up", () => {
    const longest = Array.from({ length: 8 }, (_, retries) =>
      retryDelay(transient, { retries, policy: { ...policy, maxRetries: 7 }, random: () => 1 }),
    );
    assert.deepEqual(longest, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, undefined]);
    const shortest = [0, 1, 6].map((retries) => retryDelay(transient, { retries, policy, random: () => 0 }));
    assert.deepEqual(shortest, [250, 500, undefined]);
  });

  const rows: [what: string, error: RuntimeError, expected: number | undefined][] = [
    ["as long as the server asks", after(7_000), 7_000],
    ["not at all when the server says so", after(0), 0],
    ["for two minutes at most", after(120_000), 120_000],
    ["never for longer", after(120_001), undefined],
    ["never after a failure that will not go away", new RuntimeError("provider-auth", "no"), undefined],
  ];
  for (const [what, error, expected] of rows) {
    it(`waits ${what}`, () => assert.equal(retryDelay(error, { retries: 0, policy, random: () => 1 }), expected));
  }
});

describe("giveUp", () => {
  it("says what was tried and what the server asked for", () => {
    assert.equal(giveUp(transient, { retries: 0, policy }), transient);
    assert.equal(giveUp(transient, { retries: 1, policy }).message, "down (gave up after 1 retry)");
    assert.deepEqual(giveUp(after(300_000), { retries: 2, policy }).toJSON(), {
      code: "provider-rate-limit",
      message: "busy (the server asks to wait 300 s; gave up after 2 retries)",
      retryable: true,
      retryAfterMs: 300_000,
    });
  });
});
