import assert from "node:assert/strict";
import type { SessionStore } from "../journal/store.ts";
import type { AgentEvent } from "../protocol/events.ts";

/** `create` answers a new, empty store each time; cases are run by whatever test runner the caller has. */
export type ConformanceCase = { readonly name: string; run(create: () => Promise<SessionStore>): Promise<void> };

/** What every session store must do, as data. */
export const sessionStoreConformance: readonly ConformanceCase[] = [
  {
    name: "gives back what was appended, in order",
    async run(create) {
      const store = await create();
      const writer = await store.open("s1");
      await writer.append([event(1), event(2)]);
      await writer.append([event(3)]);
      assert.deepEqual(await store.read("s1"), [event(1), event(2), event(3)]);
      await writer.close();
    },
  },
  {
    name: "answers an unknown session with nothing",
    async run(create) {
      const store = await create();
      assert.deepEqual(await store.read("nobody"), []);
      assert.deepEqual(await store.list(), []);
    },
  },
  {
    name: "reads only what is after a seq",
    async run(create) {
      const store = await create();
      const writer = await store.open("s1");
      await writer.append([event(1), event(2), event(5)]);
      assert.deepEqual(await store.read("s1", { after: 2 }), [event(5)]);
      await writer.close();
    },
  },
  {
    name: "hands a reopened session its events and goes on after them",
    async run(create) {
      const store = await create();
      const first = await store.open("s1");
      await first.append([event(1)]);
      await first.close();
      const second = await store.open("s1");
      assert.deepEqual(second.events, [event(1)]);
      await second.append([event(2)]);
      await second.close();
      assert.deepEqual(await store.read("s1"), [event(1), event(2)]);
    },
  },
  {
    name: "refuses a second writer until the first has closed",
    async run(create) {
      const store = await create();
      const writer = await store.open("s1");
      await assert.rejects(store.open("s1"), { code: "session-locked" });
      const other = await store.open("s2");
      await other.close();
      await writer.close();
      await (await store.open("s1")).close();
    },
  },
  {
    name: "refuses to append after close",
    async run(create) {
      const store = await create();
      const writer = await store.open("s1");
      await writer.close();
      await assert.rejects(writer.append([event(1)]), { code: "closed" });
    },
  },
  {
    name: "keeps sessions apart and lists those that hold something",
    async run(create) {
      const store = await create();
      for (const id of ["a", "b"]) {
        const writer = await store.open(id);
        await writer.append([event(1, id)]);
        await writer.close();
      }
      assert.deepEqual((await store.list()).sort(), ["a", "b"]);
      assert.deepEqual(await store.read("a"), [event(1, "a")]);
    },
  },
  {
    name: "keeps awkward text as it is",
    async run(create) {
      const store = await create();
      const awkward = { ...event(1), message: 'line\nbreak \u2028 \u0000 \ud83d\ude00 \\u2028 "quoted"' };
      const writer = await store.open("s1");
      await writer.append([awkward]);
      await writer.close();
      assert.deepEqual(await store.read("s1"), [awkward]);
    },
  },
  {
    name: "is not changed through what it was given or gave",
    async run(create) {
      const store = await create();
      const writer = await store.open("s1");
      const given = event(1);
      await writer.append([given]);
      given.message = "changed";
      const [read] = await store.read("s1");
      assert.deepEqual(read, event(1));
      await writer.close();
    },
  },
];

function event(seq: number, sessionId = "s1"): AgentEvent<"warning.raised"> {
  return { type: "warning.raised", seq, at: "2026-01-01T00:00:00.000Z", sessionId, message: `event ${seq}` };
}
