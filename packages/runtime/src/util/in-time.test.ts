import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inTime, TookTooLong } from "./in-time.ts";

describe("a task with a time limit", () => {
  it("answers what it answers, and throws what it throws", () => {
    const mistake = new RangeError("mine");
    assert.equal(
      inTime(() => undefined),
      undefined,
    );
    assert.deepEqual(
      inTime(() => inTime(() => [1])),
      [1],
    );
    assert.throws(
      () =>
        inTime(() => {
          throw mistake;
        }),
      (error) => error === mistake,
    );
  });

  it("is stopped in the middle of a regular expression or a loop, and the next one runs", () => {
    const endless: (() => unknown)[] = [
      () => /^(a+)+$/.test(`${"a".repeat(50)}!`),
      () => {
        for (;;);
      },
    ];
    for (const task of endless) assert.throws(() => inTime(task, 50), TookTooLong);
    assert.equal(
      inTime(() => "next"),
      "next",
    );
  });
});
