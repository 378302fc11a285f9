import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { closeAll } from "./end-session.ts";

describe("the steps after a result", () => {
  it("are all done: one that fails and one that never ends are told and left behind", async () => {
    const told: string[] = [];
    const done: string[] = [];
    const steps = [
      () => Promise.reject(new Error("the lock is gone")),
      () => new Promise(() => {}),
      () => undefined,
      async () => void done.push("closed"),
    ];
    await closeAll((message) => told.push(message), steps, 20);
    assert.deepEqual(
      [told, done],
      [["After the end: the lock is gone", "After the end: closing took more than 0.02 s and was given up"], ["closed"]],
    );
  });
});
