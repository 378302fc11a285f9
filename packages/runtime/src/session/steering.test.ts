import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { userText } from "../protocol/content.ts";
import { Steering } from "./steering.ts";

describe("Steering", () => {
  it("hands out what waits, in order, and says that it joined", async () => {
    const steering = new Steering();
    const fates = [steering.add(userText("one")), steering.add(userText("two"))];
    assert.deepEqual(steering.take(), [userText("one"), userText("two")]);
    assert.deepEqual(await Promise.all(fates), ["joined", "joined"]);
    assert.deepEqual(steering.take(), []);
  });

  it("says at the end of the turn what has missed it", async () => {
    const steering = new Steering();
    const fate = steering.add(userText("late"));
    steering.end();
    assert.equal(await fate, "missed");
    assert.deepEqual(steering.take(), []);
  });

  it("gives back what is taken back in time, and not what has joined", async () => {
    const steering = new Steering();
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const taken = steering.add(userText("taken back"), first.signal);
    const kept = steering.add(userText("kept"), second.signal);
    first.abort();
    assert.equal(await taken, "missed");
    assert.deepEqual(steering.take(), [userText("kept")]);
    second.abort();
    assert.equal(await kept, "joined");
    third.abort();
    assert.equal(await steering.add(userText("never"), third.signal), "missed");
    assert.deepEqual(steering.take(), []);
  });
});
