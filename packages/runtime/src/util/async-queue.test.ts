import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AsyncQueue } from "./async-queue.ts";
import { flatten } from "./flatten.ts";

async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  const first = await Promise.race([promise.catch(() => undefined), new Promise((resolve) => setImmediate(resolve, open))]);
  return first === open;
}

describe("AsyncQueue", () => {
  it("hands out what was pushed, in order, to a reader that was there before or comes later", async () => {
    const queue = new AsyncQueue<number>({ capacity: 10 });
    const early = queue.next();
    queue.push(1);
    queue.push(2);
    assert.deepEqual(
      [await early, await queue.next()],
      [
        { done: false, value: 1 },
        { done: false, value: 2 },
      ],
    );
    queue.push(3);
    queue.push(4);
    assert.equal((await queue.next()).value, 3);
    queue.push(5);
    assert.deepEqual([(await queue.next()).value, (await queue.next()).value], [4, 5]);
    queue.end();
    assert.deepEqual(await queue.next(), { done: true, value: undefined });
  });

  it("takes no more than its capacity, unless the writer insists", () => {
    const queue = new AsyncQueue<number>({ capacity: 2 });
    assert.deepEqual([queue.push(1), queue.push(2), queue.push(3)], [true, true, false]);
    queue.pushAnyway(4);
    queue.end();
    assert.equal(queue.push(5), true); // there is nobody who could miss it
    return (async () => assert.deepEqual(await collect(queue), [1, 2, 4]))();
  });

  it("tells a writer when there is room again: the reader has taken what waits, has gone, or all is over", async () => {
    for (const free of ["next", "return", "end"] as const) {
      const queue = new AsyncQueue<number>({ capacity: 1 });
      assert.equal(queue.room(), undefined);
      queue.push(1);
      const room = queue.room();
      assert.ok(room && room === queue.room());
      assert.ok(await isOpen(room), free);
      queue[free]();
      await room;
      assert.equal(queue.room(), undefined, free);
      if (free !== "next") continue;
      queue.push(2);
      assert.ok(await isOpen(queue.room() ?? Promise.resolve()), "full again");
    }
  });

  it("takes nothing after its end, and has no error for a reader that is gone", async () => {
    const queue = new AsyncQueue<number>({ capacity: 2 });
    queue.end(new Error("over"));
    queue.pushAnyway(1);
    assert.deepEqual(await queue.return(), { done: true, value: undefined });
    assert.deepEqual(await queue.next(), { done: true, value: undefined });
    const open = new AsyncQueue<number>({ capacity: 2 });
    open.end();
    open.pushAnyway(1);
    assert.deepEqual(await open.next(), { done: true, value: undefined });
  });

  it("ends after what was pushed before, once, with or without an error, and says that the reader is gone", async () => {
    let gone = 0;
    const queue = new AsyncQueue<number>({ capacity: 2, onReturn: () => gone++ });
    queue.push(1);
    queue.end(new Error("over"));
    queue.end();
    assert.equal((await queue.next()).value, 1);
    assert.equal(gone, 0);
    await assert.rejects(queue.next(), /over/);
    assert.equal(gone, 1);
    assert.equal((await queue.next()).done, true);
  });

  it("wakes a reader that waits when it ends", async () => {
    for (const error of [undefined, new Error("over")]) {
      let gone = 0;
      const queue = new AsyncQueue<number>({ capacity: 2, onReturn: () => gone++ });
      const waiting = queue.next();
      queue.end(error);
      if (error) await assert.rejects(waiting, /over/);
      else assert.deepEqual(await waiting, { done: true, value: undefined });
      assert.equal(gone, 1);
    }
  });

  it("forgets everything when its reader goes", async () => {
    let gone = 0;
    const queue = new AsyncQueue<number>({ capacity: 9, onReturn: () => gone++ });
    for (const number of [1, 2, 3]) queue.push(number);
    for await (const number of queue) if (number === 1) break;
    queue.push(4);
    queue.end(new Error("late"));
    assert.equal(gone, 1);
    assert.deepEqual(await queue.next(), { done: true, value: undefined });
  });
});

describe("flatten", () => {
  async function* batches(seen: string[]): AsyncGenerator<number[]> {
    try {
      yield [];
      yield [1, 2];
      yield [];
      yield [3];
    } finally {
      seen.push("closed");
    }
  }

  it("has the items of all batches, one by one", async () => {
    assert.deepEqual(await collect(flatten(batches([]))), [1, 2, 3]);
  });

  it("closes its source and has nothing more when the reader goes", async () => {
    const seen: string[] = [];
    const items = flatten(batches(seen));
    for await (const item of items) if (item === 1) break;
    assert.deepEqual(seen, ["closed"]);
    assert.deepEqual(await items.next(), { done: true, value: undefined });
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
