import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "../journal/memory-store.ts";
import type { AgentEvent } from "../protocol/events.ts";
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
});
