import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import type { SessionStore } from "../../journal/store.ts";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent, AgentEvents } from "../../protocol/events.ts";
import { EventHub } from "./event-hub.ts";

async function open(): Promise<{ hub: EventHub; faults: string[]; say: (message: string) => void; clock: { now: number } }> {
  const store = createMemoryStore();
  const faults: string[] = [];
  const clock = { now: 0 };
  const hub = new EventHub({
    sessionId: "s",
    store,
    now: () => clock.now,
    onEvent: () => {},
    onFault: ({ code }) => faults.push(code),
  });
  hub.attach(await store.open("s"));
  return { hub, faults, clock, say: (message) => hub.emit({ type: "warning.raised", message }) };
}

async function all(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) seen.push(`${event.seq} ${event.type === "warning.raised" ? event.message : event.type}`);
  return seen;
}

describe("EventHub", () => {
  it("tells a reader with `after` what is stored and what comes, each event once", async () => {
    const { hub, say } = await open();
    say("a");
    say("b");
    await hub.flush();
    const late = hub.subscribe({ after: 1 })[Symbol.asyncIterator]();
    say("c"); // stored before the reader begins, and queued for it
    await hub.flush();
    const seen = [await late.next(), await late.next()];
    say("d");
    await hub.flush();
    seen.push(await late.next());
    assert.deepEqual(
      seen.map(({ value }) => value?.message),
      ["b", "c", "d"],
    );
    hub.close();
    assert.equal((await late.next()).done, true);
  });

  it("refuses a reader that would go on after an event that there is not yet", async () => {
    const { hub, say } = await open();
    say("a");
    await hub.flush();
    await assert.rejects(all(hub.subscribe({ after: 9 })), { code: "usage", message: /no event 9 .* is 1$/ });
    hub.close();
  });

  it("has nothing for readers that come after its end", async () => {
    const { hub, say } = await open();
    say("a");
    await hub.flush();
    const reading = all(hub.subscribe());
    hub.close();
    say("b");
    assert.deepEqual(await reading, []);
    assert.deepEqual(await all(hub.subscribe()), []);
    assert.deepEqual(await all(hub.subscribe({ after: 0 })), ["1 a"]);
  });

  it("fails once, for every reader, and for those that come later", async () => {
    const { hub, faults, say } = await open();
    const reading = all(hub.subscribe());
    hub.fail(new Error("disk full"));
    hub.fail(new Error("again"));
    say("lost");
    const failed = { code: "storage-failed", message: "disk full" };
    await assert.rejects(reading, failed);
    await assert.rejects(all(hub.subscribe()), failed);
    await assert.rejects(hub.flush(), failed);
    assert.deepEqual(faults, ["storage-failed"]);
  });

  it("asks the store for nothing where there is nothing to store", async () => {
    const inner = createMemoryStore();
    const appended: number[] = [];
    const writer = await inner.open("s");
    const append = async (events: readonly AgentEvent[]): Promise<void> => {
      appended.push(events.length);
      await writer.append(events);
    };
    const hub = new EventHub({ sessionId: "s", store: inner, now: () => 0, onEvent: () => {}, onFault: () => {} });
    hub.attach({ ...writer, append });
    const reading = all(hub.subscribe());
    hub.emit({ type: "warning.raised", message: "a" });
    hub.emit({ type: "tool.progress", callId: "c", text: "b" }); // while the first one is being stored
    await hub.flush();
    hub.emit({ type: "tool.progress", callId: "c", text: "d" });
    await hub.flush();
    hub.close();
    assert.deepEqual(await reading, ["1 a", "2 tool.progress", "3 tool.progress"]);
    assert.deepEqual(appended, [1]);
  });

  it("a flush waits for what was emitted before it, and is not failed by what comes later", async () => {
    const store = createMemoryStore();
    const writer = await store.open("s");
    const append = async (events: readonly AgentEvent[]): Promise<void> => {
      await new Promise(setImmediate);
      if (events.some((event) => event.seq === 3)) throw new Error("disk full");
      await writer.append(events);
    };
    const hub = new EventHub({ sessionId: "s", store, now: () => 0, onEvent: () => {}, onFault: () => {} });
    hub.attach({ ...writer, append });
    const flush = (message: string) => {
      hub.emit({ type: "warning.raised", message });
      return hub.flush().then(
        () => `${message} of ${hub.storedSeq}`,
        ({ code }: { code: string }) => code,
      );
    };
    const first = flush("1");
    const second = flush("2"); // while the first is being stored
    const third = first.then(() => flush("3"));
    assert.deepEqual(await Promise.all([first, second, third]), ["1 of 1", "2 of 2", "storage-failed"]);
  });

  it("stamps each event with the time it has then", async () => {
    const { hub, say, clock } = await open();
    const reader = hub.subscribe()[Symbol.asyncIterator]();
    const times: string[] = [];
    for (const now of [0, 1_000, 1_000, 2_000]) {
      clock.now = now;
      say("x");
      await hub.flush();
      times.push((await reader.next()).value?.at);
    }
    const epoch = "1970-01-01T00:00:0";
    assert.deepEqual(times, [`${epoch}0.000Z`, `${epoch}1.000Z`, `${epoch}1.000Z`, `${epoch}2.000Z`]);
  });

  for (const from of [undefined, 0])
    it(`lets a reader go when its signal is aborted, also while it waits (after: ${from})`, async () => {
      const { hub, say } = await open();
      const leaving = new AbortController();
      const reading = all(hub.subscribe({ after: from, signal: leaving.signal, capacity: 1, whenFull: "wait" }));
      say("a");
      await hub.flush();
      await new Promise(setImmediate); // it has read that, and waits
      leaving.abort();
      assert.deepEqual(await reading, ["1 a"]);
      say("b");
      say("c");
      await hub.flush();
      assert.equal(hub.congestion(), undefined, "nobody waits for it any more");
      assert.deepEqual(await all(hub.subscribe({ signal: leaving.signal })), [], "a signal of the past counts");
    });

  it("drops a reader that falls behind, and waits for one that must not lose anything", async () => {
    const { hub, say } = await open();
    const dropped = hub.subscribe({ capacity: 2 });
    const waiting = hub.subscribe({ capacity: 2, whenFull: "wait" });
    assert.equal(hub.congestion(), undefined);
    for (const word of ["a", "b", "c"]) say(word);
    await hub.flush();
    const congestion = hub.congestion();
    assert.ok(congestion);
    await assert.rejects(all(dropped), { code: "subscriber-overflow", retryable: true });
    const reading = all(waiting);
    await congestion;
    hub.close();
    assert.deepEqual(await reading, ["1 a", "2 b", "3 c"]);
  });

  it("queues for a reader only what it wants: what it does not read cannot make it fall behind", async () => {
    const { hub, say } = await open();
    const ends = hub.subscribe({ types: ["warning.raised"], capacity: 2 });
    const everything = hub.subscribe({ capacity: 2 });
    const waiting = hub.subscribe({ types: ["session.named"], capacity: 1, whenFull: "wait" });
    say("a");
    for (let count = 0; count < 100; count++) hub.emit({ type: "tool.progress", callId: "c", text: "still" });
    say("b");
    await hub.flush();
    assert.equal(hub.congestion(), undefined, "nothing waits for a reader that wants none of it");
    hub.close();
    assert.deepEqual(await all(ends), ["1 a", "102 b"]);
    assert.deepEqual(await all(waiting), []);
    await assert.rejects(all(everything), { code: "subscriber-overflow" });
  });

  it("tells a reader of the subagents it wants to hear of, in the past as now", async () => {
    const { hub, say } = await open();
    const tell = (): void => {
      say("own");
      for (const task of ["one", "two"]) hub.emit({ type: "warning.raised", message: task }, "turn", task);
      hub.emit({ type: "task.ended", ...taskEnd }, "turn", "one");
    };
    tell();
    await hub.flush();
    const readers = [undefined, true, false, ["one"], []].map((tasks) => hub.subscribe({ after: 0, tasks }));
    const typed = hub.subscribe({ after: 0, tasks: false, types: ["warning.raised"] });
    tell();
    await hub.flush();
    hub.close();
    const both = ["1 own", "2 one", "3 two", "4 task.ended", "5 own", "6 one", "7 two", "8 task.ended"];
    const of = (...words: string[]): string[] => both.filter((line) => words.some((word) => line.endsWith(word)));
    assert.deepEqual(await Promise.all(readers.map(all)), [both, both, of("own", "ended"), of("one", "ended"), []]);
    assert.deepEqual(await all(typed), of("own"));
  });

  it("reads the log once for a hundred readers that begin in the past", async () => {
    const inner = createMemoryStore();
    let reads = 0;
    const store: SessionStore = {
      ...inner,
      async read(...args) {
        reads++;
        return await inner.read(...args);
      },
    };
    const hub = new EventHub({ sessionId: "s", store, now: () => 0, onEvent: () => {}, onFault: () => {} });
    hub.attach(await store.open("s"));
    const say = (message: string): void => hub.emit({ type: "warning.raised", message });
    say("a");
    say("b");
    await hub.flush();
    const early = Array.from({ length: 50 }, (_, index) => all(hub.subscribe({ after: index % 2 })));
    say("c");
    await hub.flush();
    const late = Array.from({ length: 50 }, () => all(hub.subscribe({ after: 0 })));
    say("d");
    await hub.flush();
    hub.close();
    const whole = ["1 a", "2 b", "3 c", "4 d"];
    for (const [index, seen] of (await Promise.all(early)).entries()) assert.deepEqual(seen, whole.slice(index % 2));
    for (const seen of await Promise.all(late)) assert.deepEqual(seen, whole);
    assert.equal(reads, 1);
  });
});

const taskEnd: AgentEvents["task.ended"] = {
  taskId: "one",
  callId: "c",
  outcome: { type: "completed", text: "" },
  usage: noUsage,
  modelCalls: 1,
  durationMs: 1,
};
