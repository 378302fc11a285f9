import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { oneAtATime } from "./one-at-a-time.ts";

describe("one at a time", () => {
  it("starts a piece of work when the one before it has ended", async () => {
    const steps: string[] = [];
    const inTurn = oneAtATime();
    const work = (name: string) => async () => {
      steps.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${name} ends`);
      return name;
    };
    const answers = await Promise.all([inTurn(work("a")), inTurn(work("b"))]);
    assert.deepEqual(
      [answers, steps],
      [
        ["a", "b"],
        ["a starts", "a ends", "b starts", "b ends"],
      ],
    );
  });

  it("tells a failure to its caller and goes on", async () => {
    const inTurn = oneAtATime();
    const failing = inTurn(async () => {
      throw new Error("no");
    });
    const next = inTurn(async () => "went on");
    await assert.rejects(failing, /no/);
    assert.equal(await next, "went on");
  });
});
