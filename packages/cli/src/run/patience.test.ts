import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { afterPatience } from "./patience.ts";

/** Keeps this thread from everything else, as a machine with too much to do does. */
const stall = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe("patience", () => {
  it("ends after its time where nothing keeps it waiting", async () => {
    const startedAt = performance.now();
    await new Promise<void>((resolve) => afterPatience(320, resolve));
    assert.ok(performance.now() - startedAt >= 300);
  });

  it("does not count the time in which nobody could work", async () => {
    let isOver = false;
    afterPatience(320, () => {
      isOver = true;
    });
    stall(1_000);
    await delay(100); // a single timer would have fired
    assert.equal(isOver, false);
    while (!isOver) await delay(10);
  });

  it("can be stopped at any time", async () => {
    const stop = afterPatience(32, () => assert.fail("it was stopped"));
    await delay(10);
    stop();
    await delay(100);
  });
});
