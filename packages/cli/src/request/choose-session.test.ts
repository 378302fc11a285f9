import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AgentEvent, createMemoryStore, RuntimeError, type SessionStore } from "@outrider/runtime";
import type { SessionChoice } from "@outrider/runtime/host";
import { chooseSession } from "./choose-session.ts";
import type { FlagValues } from "../flags/flags.ts";

type Told = { id: string; name?: string; cwd?: string; at?: string; turns?: number };

/** Sessions that were started, given a name and asked something. */
async function storeOf(...sessions: readonly Told[]): Promise<SessionStore> {
  const store = createMemoryStore();
  for (const { id, name, cwd = "/here", at = "2025-01-01T00:00:00.000Z", turns = 1 } of sessions) {
    const journal = await store.open(id);
    const bodies = [
      { type: "session.started", cwd },
      ...(name === undefined ? [] : [{ type: "session.named", name }]),
      ...Array.from({ length: turns }, (_, turn) => [
        {
          type: "turn.started",
          turnId: `${id}-${turn}`,
          input: { role: "user", content: [{ type: "text", text: `about ${id}` }] },
        },
        {
          type: "message.ended",
          turnId: `${id}-${turn}`,
          messageId: `message-${turn}`,
          message: { content: [], responseId: `r-${turn}` },
        },
        { type: "tool.ended", turnId: `${id}-${turn}`, callId: `call-${turn}` },
        { type: "message.ended", turnId: `${id}-${turn}`, taskId: "task", messageId: "of-a-subagent", message: { content: [] } },
        { type: "turn.ended", turnId: `${id}-${turn}` },
      ]).flat(),
    ];
    await journal.append(bodies.map((body, index) => ({ seq: index + 1, at, sessionId: id, ...body }) as unknown as AgentEvent));
    await journal.close();
  }
  return store;
}

async function failure(promise: Promise<unknown>): Promise<RuntimeError> {
  const error = await promise.then(
    () => assert.fail("it should have failed"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RuntimeError);
  return error;
}

/** What the flags mean, with these sessions in the store. */
async function choose(flags: FlagValues, store: SessionStore | undefined, cwd = "/"): Promise<SessionChoice> {
  return await chooseSession(flags, () => {})(store, cwd);
}

async function idOf(choice: Promise<SessionChoice>): Promise<string | undefined> {
  return (await choice).id;
}

async function eventOf(choice: Promise<SessionChoice>): Promise<number | undefined> {
  const chosen = await choice;
  return chosen.type === "new" ? undefined : chosen.at;
}

describe("chooseSession", () => {
  it("makes up an id for a new session, or takes the given one, and does not look at the store", async () => {
    const store = new Proxy({} as SessionStore, { get: () => assert.fail("it was looked at") });
    const made = await choose({}, store, "/here");
    assert.equal(made.type, "new");
    assert.match(made.id ?? "", /^[0-9a-f-]{36}$/);
    assert.deepEqual(await choose({ "session-id": "mine" }, undefined), { type: "new", id: "mine" });
  });

  it("takes an id before a name, and a name before the beginning of an id", async () => {
    const store = await storeOf(
      { id: "abcdefgh-1" },
      { id: "abcdefgh-2", name: "abcdefgh-1" },
      { id: "other-session", name: "abcdefgh" },
      { id: "zyxwvuts-1" },
    );
    const chosen = (resume: string): Promise<string | undefined> => idOf(choose({ resume }, store));
    assert.deepEqual(await Promise.all(["abcdefgh-1", "abcdefgh", "zyxwvuts"].map(chosen)), [
      "abcdefgh-1",
      "other-session",
      "zyxwvuts-1",
    ]);
    const { code, message } = await failure(chosen("abcdefgh-"));
    assert.deepEqual([code, message.split("\n").length], ["usage", 3]);
  });

  it("names up to three sessions that may have been meant, those that hold the word first", async () => {
    const store = await storeOf(
      { id: "11111111", name: "deploy staging" },
      { id: "22222222", name: "deplxx" },
      { id: "33333333", name: "unlike \u001b[31m" },
      { id: "44444444", name: "deplo" },
    );
    const { code, message, hint } = await failure(choose({ resume: "deploy" }, store));
    assert.deepEqual([code, message], ["not-found", "No conversation found with session ID: deploy"]);
    assert.match(hint ?? "", /^Did you mean deploy staging, or deplo, or deplxx\? /);
  });

  it("continues the latest of the folder that was asked something", async () => {
    const store = await storeOf(
      { id: "old", at: "2025-01-01T00:00:00.000Z" },
      { id: "latest", at: "2025-01-02T00:00:00.000Z" },
      { id: "unused", at: "2025-01-03T00:00:00.000Z", turns: 0 },
      { id: "elsewhere", at: "2025-01-04T00:00:00.000Z", cwd: "/there" },
    );
    assert.deepEqual(await choose({ continue: true }, store, "/here"), { type: "resume", id: "latest", at: undefined });
    assert.equal((await choose({ continue: true }, store, "/nowhere")).type, "new");
    const { code } = await failure(choose({ continue: true, "resume-session-at": "1" }, store, "/nowhere"));
    assert.equal(code, "not-found");
  });

  it("gives each fork a name that is free, unless it is given one, and copies nothing yet", async () => {
    const store = await storeOf({ id: "source", name: "work" });
    const fork = async (id: string, name?: string): Promise<string | undefined> => {
      const flags = { resume: "source", "fork-session": true, "session-id": id, ...(name !== undefined && { name }) } as const;
      const choice = await choose(flags, store);
      assert.equal((await store.list()).includes(id), false);
      assert.ok(choice.type === "fork" && choice.from === "source" && choice.id === id);
      await store.fork("source", id);
      await store.rename(id, choice.name ?? "");
      return choice.name;
    };
    assert.deepEqual([await fork("one"), await fork("two"), await fork("three", "own")], ["work (fork)", "work (fork 2)", "own"]);
    const again = await choose({ resume: "two", "fork-session": true, "session-id": "four" }, store);
    assert.equal(again.type === "fork" && again.name, "work (fork 3)");
    assert.equal((await failure(choose({ resume: "two", "fork-session": true, "session-id": "one" }, store))).code, "usage");
  });

  it("goes back in the session itself unless a copy is asked for", async () => {
    const store = await storeOf({ id: "source", turns: 3 });
    const back = await choose({ continue: true, "resume-session-at": "r-1" }, store, "/here");
    assert.deepEqual(back, { type: "resume", id: "source", at: 8 });
    assert.throws(() => chooseSession({ "resume-session-at": "8" }, () => {}), { code: "usage" });
    assert.deepEqual(await store.list(), ["source"]);
  });

  it("leaves behind one turn and nothing else where that is asked for", async () => {
    const store = await storeOf({ id: "source", turns: 3 });
    const back = (at: string, turn: string): Promise<number | undefined> =>
      eventOf(choose({ resume: "source", "resume-session-at": at, "resume-drops-turn": turn }, store));
    assert.deepEqual([await back("source-1", "source-2"), await back("source-2", "source-2")], [11, 16]);
    for (const [at, turn] of [
      ["source-0", "source-2"], // the turn between them
      ["message-1", "source-2"], // the end of the turn that is kept
      ["source-1", "nobody"],
    ] as const) {
      const { code, message } = await failure(back(at, turn));
      assert.deepEqual([code, message.startsWith("Resume rejected by --resume-drops-turn: ")], ["usage", true], at);
    }
    assert.throws(() => chooseSession({ resume: "source", "resume-drops-turn": "source-2" }, () => {}), { code: "usage" });
  });

  it("forks up to an event that is known by its number, its message, its call or its turn", async () => {
    const store = await storeOf({ id: "source", turns: 3 });
    const upTo = (at: string): Promise<number | undefined> =>
      eventOf(choose({ resume: "source", "fork-session": true, "resume-session-at": at }, store));
    assert.deepEqual(await Promise.all(["5", "message-1", "r-1", "call-0", "source-1"].map(upTo)), [5, 8, 8, 4, 11]);
    for (const at of ["0", "17", "nobody", "of-a-subagent"]) assert.equal((await failure(upTo(at))).code, "not-found", at);
    assert.deepEqual(await store.list(), ["source"]);
  });
});
