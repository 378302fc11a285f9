import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listAgain } from "./list-again.ts";

/** Counts lists; a pause ends when the test says so. */
function begin(stop = new AbortController()) {
  let lists = 0;
  const pauses: number[] = [];
  let wake = (): void => {};
  const news = listAgain(
    async () => void lists++,
    stop.signal,
    (ms) =>
      new Promise((resolve) => {
        pauses.push(ms);
        wake = resolve;
      }),
  );
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    ...{ news, pauses, stop },
    lists: () => lists,
    async pass() {
      await settle();
      wake();
      await settle();
    },
  };
}

describe("a list that is asked for anew", () => {
  it("is asked for at once, and once more for all the news that comes meanwhile", async () => {
    const { news, lists, pass } = begin();
    for (let count = 0; count < 100; count++) news();
    assert.equal(lists(), 1);
    await pass();
    assert.equal(lists(), 2);
    await pass();
    assert.equal(lists(), 2);
    news();
    assert.equal(lists(), 3, "nothing was under way");
    await pass();
    assert.equal(lists(), 3);
  });

  it("is asked for less and less often while news goes on, and no more once the connection has ended", async () => {
    const { news, lists, pass, pauses, stop } = begin();
    for (let count = 0; count < 12; count++) {
      news();
      await pass();
    }
    news();
    assert.deepEqual(pauses.slice(0, 4), [20, 20, 20, 20], "each was over before the next");
    const before = pauses.length;
    for (let count = 0; count < 12; count++) {
      news();
      await pass();
      news();
    }
    assert.deepEqual(pauses.slice(before, before + 3), [20, 40, 80]);
    assert.equal(Math.max(...pauses), 5_000);
    stop.abort();
    const ended = lists();
    await pass();
    news();
    assert.equal(lists(), ended);
  });
});
