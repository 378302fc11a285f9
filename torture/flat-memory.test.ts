import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { growthPerSession, type Rest, whyNotFlat } from "./flat-memory.ts";

const restsOf = (bytes: (sessions: number) => number): Rest[] =>
  Array.from({ length: 12 }, (_, index) => (index + 1) * 200).map((sessions) => ({
    sessions,
    heap: { data: bytes(sessions), code: 0 },
  }));

describe("whether memory is flat", () => {
  it("is, where it swings around one figure after a beginning in which it grew", () => {
    assert.equal(whyNotFlat(restsOf((sessions) => 20e6 + Math.min(sessions, 700) * 5_000 + (sessions % 400) * 1_000)), undefined);
  });

  it("is not, where each session leaves two kilobytes", () => {
    const leaking = restsOf((sessions) => 20e6 + sessions * 2_000 + (sessions % 400) * 500);
    assert.match(whyNotFlat(leaking) ?? "", /^the heap grows by (19|20)\d\d bytes with each session/);
    assert.equal(growthPerSession(leaking).sessions, 1_400);
  });

  it("is judged on what it was given: one rest is no line", () => {
    assert.deepEqual(growthPerSession(restsOf(() => 20e6).slice(0, 1)), { each: 0, sessions: 0 });
  });
});
