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
      assert.deepEqual([...second.events], [event(1)]);
      await second.append([event(2)]);
      await second.close();
      assert.deepEqual(await store.read("s1"), [event(1), event(2)]);
    },
  },
  {
    name: "finds stored events by their type, and the latest of one",
    async run(create) {
      const store = await create();
      const named = (seq: number): AgentEvent<"session.named"> => {
        return { type: "session.named", seq, at, sessionId: "s1", name: `n${seq}` };
      };
      const writer = await store.open("s1");
      await writer.append([event(1), named(2), event(5), named(7), event(8)]);
      await writer.close();
      const again = await store.open("s1");
      const { events } = again;
      assert.deepEqual([...events.of("session.named")], [named(2), named(7)]);
      assert.deepEqual([...events.of("warning.raised", "session.named")].length, 5);
      assert.deepEqual(events.last("session.named"), named(7));
      assert.deepEqual(
        events.last("session.named", ({ name }) => name === "n2"),
        named(2),
      );
      assert.deepEqual([events.last("turn.ended"), events.length, events.lastSeq], [undefined, 5, 8]);
      const read = await store.read("s1", { types: ["session.named"], after: 2 });
      assert.deepEqual(read, [named(7)]);
      await again.close();
    },
  },
  {
    name: "gives the conversation without subagents, and without the starts of calls that have ended",
    async run(create) {
      const store = await create();
      const start = (seq: number, callId: string, more: object = {}): AgentEvent => {
        return Object.assign(event(seq), { type: "tool.started", callId, name: "Bash", input: {} }, more) as AgentEvent;
      };
      const end = (seq: number, callId: string, more: object = {}): AgentEvent => {
        const result = { type: "tool-result", callId, name: "Bash", content: [], isError: false };
        return Object.assign(event(seq), { type: "tool.ended", callId, name: "Bash", status: "ok", result }, more) as AgentEvent;
      };
      const task = { taskId: "t1" };
      const events = [
        ...[event(1), start(2, "a"), start(3, "b"), end(4, "b"), start(5, "c", task), end(6, "c", task)],
        ...[start(7, "d"), end(8, "d"), start(9, "d"), start(10, 'e\u00e4"')],
      ];
      const writer = await store.open("s1");
      await writer.append(events);
      await writer.close();
      const again = await store.open("s1");
      await again.close();
      assert.deepEqual(
        [...again.events.conversation()].map(({ seq }) => seq),
        [2, 4, 8, 9, 10],
      );
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
      assert.deepEqual(await Promise.all(["a", "b", "c", "../a", ""].map((id) => store.has(id))), [
        true,
        true,
        false,
        false,
        false,
      ]);
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
  {
    name: "keeps long texts, texts that look like references to them, and halves of characters",
    async run(create) {
      const store = await create();
      const long = "wörd ".repeat(40_000);
      const input = { long, again: [long], "$outrider.text": { sha256: "0".repeat(64), bytes: 3 }, $$: { "$$outrider.text": 1 } };
      const broken = `${"x".repeat(100_000)}\ud83d`;
      const stored: AgentEvent[] = [
        { ...event(1), type: "tool.started", callId: "c1", name: "Write", input } as AgentEvent, // only its kind has changed
        { ...event(2), message: broken },
        { ...event(3), message: long },
      ];
      const writer = await store.open("s1");
      await writer.append(stored);
      await writer.close();
      assert.deepEqual(await store.read("s1"), stored);
      assert.deepEqual(await store.read("s1", { after: 2 }), stored.slice(2));
      const again = await store.open("s1");
      assert.deepEqual([[...again.events], again.warnings], [stored, []]);
      await again.close();
    },
  },
  {
    name: "keeps appends that are made at once in the order of their calls",
    async run(create) {
      const store = await create();
      const writer = await store.open("s1");
      const long = "x".repeat(100_000);
      const stored = Array.from({ length: 100 }, (_, index) => ({
        ...event(index + 1),
        ...(index % 10 === 3 && { message: `${long}${index}` }),
      }));
      await Promise.all(stored.map((one) => writer.append([one])));
      await writer.close();
      assert.deepEqual(await store.read("s1"), stored);
    },
  },
  {
    name: "sums sessions up, the latest first",
    async run(create) {
      const store = await create();
      await fill(store, "a", [started(1, "a"), prompt(2, "a", "  Fix\n the   bug "), prompt(3, "a", "And then?")]);
      await fill(store, "b", [
        { ...started(1, "b"), at: later },
        { ...ended(2, "b"), at: later },
      ]);
      await store.rename("a", "bugs");
      const [latest, , ...none] = await store.summaries();
      assert.deepEqual(none, []);
      assert.deepEqual(
        (await store.summaries()).map(({ bytes, updatedAt, ...rest }) => ({ ...rest, hasBytes: bytes > 0 })).sort(byId),
        [
          { id: "a", name: "bugs", cwd: "/project", createdAt: at, prompt: "Fix the bug", turns: 2, hasBytes: true },
          { id: "b", cwd: "/project", createdAt: later, prompt: "", turns: 0, ended: "other", hasBytes: true },
        ],
      );
      assert.equal(latest?.id, "a"); // its name is the last thing that happened
    },
  },
  {
    name: "forks a session under a new id and leaves the old one as it was",
    async run(create) {
      const store = await create();
      const source = [started(1, "a"), prompt(2, "a", "one"), event(5, "a"), prompt(6, "a", "two")];
      const writer = await store.open("a"); // a fork is made while the session runs
      await writer.append(source);
      await store.fork("a", "b", { at: 5 });
      await store.fork("b", "c");
      assert.deepEqual(await store.read("a"), source);
      assert.deepEqual(await store.read("b"), [
        { ...started(1, "b"), forkedFrom: { sessionId: "a", seq: 5 } },
        prompt(2, "b", "one"),
        event(5, "b"),
      ]);
      const origins = (await store.summaries()).sort(byId).map(({ forkedFrom }) => forkedFrom);
      assert.deepEqual(origins, [undefined, { sessionId: "a", seq: 5 }, { sessionId: "b", seq: 5 }]);
      const forked = await store.open("b");
      assert.deepEqual(forked.warnings, []);
      await forked.append([event(6, "b")]);
      await forked.close();
      assert.equal((await store.read("b")).length, 4);
      await writer.close();
      await assert.rejects(store.fork("a", "b"), { code: "usage" });
      await assert.rejects(store.fork("a", "d", { at: 0 }), { code: "usage" });
      await assert.rejects(store.fork("a", "d", { at: 7 }), { code: "not-found" });
      await assert.rejects(store.fork("nobody", "d"), { code: "not-found" });
    },
  },
  {
    name: "names and removes sessions that exist and that nobody writes to",
    async run(create) {
      const store = await create();
      await fill(store, "a", [started(1, "a"), event(4, "a")]);
      await store.rename("a", "one");
      const named = (await store.read("a")).at(-1);
      assert.deepEqual([named?.type, named?.seq], ["session.named", 5]);
      const writer = await store.open("a");
      await assert.rejects(store.rename("a", "two"), { code: "session-locked" });
      await assert.rejects(store.remove("a"), { code: "session-locked" });
      await writer.close();
      await store.remove("a");
      assert.deepEqual([await store.list(), await store.summaries(), await store.read("a")], [[], [], []]);
      await assert.rejects(store.rename("a", "two"), { code: "not-found" });
      await assert.rejects(store.remove("a"), { code: "not-found" });
    },
  },
];

const at = "2026-01-01T00:00:00.000Z";
const later = "2026-01-02T00:00:00.000Z";

async function fill(store: SessionStore, id: string, events: AgentEvent[]): Promise<void> {
  const writer = await store.open(id);
  await writer.append(events);
  await writer.close();
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}

function started(seq: number, sessionId: string): AgentEvent {
  return {
    type: "session.started",
    seq,
    at,
    sessionId,
    cwd: "/project",
    model: { provider: "scripted", id: "scripted" },
    tools: [],
    permissionMode: "default",
    version: "0",
    journalVersion: 1,
    resumed: false,
    system: "",
    toolDefinitions: [],
  };
}

function prompt(seq: number, sessionId: string, text: string): AgentEvent {
  return { type: "turn.started", seq, at, sessionId, input: { role: "user", content: [{ type: "text", text }] } };
}

function ended(seq: number, sessionId: string): AgentEvent {
  return { type: "session.ended", seq, at, sessionId, reason: "other" };
}

function event(seq: number, sessionId = "s1"): AgentEvent<"warning.raised"> {
  return { type: "warning.raised", seq, at, sessionId, message: `event ${seq}` };
}
