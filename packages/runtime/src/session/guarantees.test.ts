import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../journal/file-store.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { toMessages } from "../journal/transcript.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import type { AgentEvent, EventType } from "../protocol/events.ts";
import { isEphemeral } from "../protocol/events.ts";
import { GatedStore } from "../../../../test/support/gated-store.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import type { SessionOptions } from "./session-options.ts";
import { InteractiveSession } from "./interactive-session.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-guarantees-"));
writeFileSync(join(folder, "a.txt"), "hi there\n");
after(() => rmSync(folder, { recursive: true, force: true }));

const readCall = { name: "Read", input: { file_path: "a.txt" } };
const readThenAnswer: ScriptStep[] = [{ text: "Looking.", calls: [readCall] }, { text: "It says hi there." }];

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({ cwd: folder, provider, ...options });
  return { session, provider };
}

async function until(events: AsyncIterable<AgentEvent>, type: EventType): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.type === type) break;
  }
  return seen;
}

function only<T extends EventType>(events: readonly AgentEvent[], type: T): Extract<AgentEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}

function tool(name: string, execute: Tool["execute"], concurrent = true): Tool {
  return defineTool({
    name,
    description: name,
    inputSchema: { type: "object" },
    concurrent,
    access: async () => ({ kind: "note", resources: [] }),
    execute,
  });
}

describe("event guarantees", () => {
  it("1: seq grows by one, and durable events are stored before any reader or listener sees them", async () => {
    const gated = new GatedStore();
    const { session } = open(readThenAnswer, { sessionStore: gated.store });
    const isStored = (seq: number): boolean => gated.stored.some((event) => event.seq === seq);
    const unstored: string[] = [];
    const seqs: number[] = [];
    session.on("tool_end", () => {
      if (!gated.stored.some(({ type }) => type === "tool.ended")) unstored.push("tool_end");
    });
    const events = session.events();
    void session.submit("what is in a.txt?");
    for await (const event of events) {
      seqs.push(event.seq);
      if (!isEphemeral(event.type) && !isStored(event.seq)) unstored.push(event.type);
      if (event.type === "turn.ended") break;
    }
    assert.deepEqual(unstored, []);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
    );
    await session.shutdown();
  });

  it("2: deltas carry only new text and are never stored; ended carries the whole value", async () => {
    const store = createMemoryStore();
    const { session } = open([{ reasoning: "Let me think.", text: "One two three." }], { sessionStore: store });
    const events = session.events();
    void session.submit("count");
    const seen = await until(events, "turn.ended");
    assert.equal(
      only(seen, "text.delta")
        .map((event) => event.text)
        .join(""),
      "One two three.",
    );
    assert.ok(only(seen, "text.delta").length > 1);
    assert.deepEqual(
      only(seen, "message.ended")[0]?.message.content.map((part) => part.type),
      ["reasoning", "text"],
    );
    assert.deepEqual(
      (await store.read(session.id)).filter((event) => isEphemeral(event.type)),
      [],
    );
    await session.shutdown();
  });

  it("3: turn.ended is the last event of its turn, and then the session accepts the next prompt", async () => {
    const { session } = open([{ text: "First." }, { text: "Second." }]);
    const events = session.events();
    void session.submit("one");
    const seen: AgentEvent[] = [];
    let second: Promise<unknown> | undefined;
    for await (const event of events) {
      seen.push(event);
      if (event.type !== "turn.ended") continue;
      if (second) break;
      assert.equal(session.isExecuting(), false);
      second = session.submit("two");
      assert.equal(session.getPendingPrompt(), null);
    }
    const turns = [...new Set(seen.flatMap((event) => event.turnId ?? []))];
    const lastOfEach = turns.map((turnId) => seen.findLast((event) => event.turnId === turnId)?.type);
    assert.deepEqual(lastOfEach, ["turn.ended", "turn.ended"]);
    await session.shutdown();
  });

  it("3: a turn is over when its end is stored, not before", async () => {
    const gated = new GatedStore();
    const { session } = open([{ text: "First." }], { sessionStore: gated.store });
    const seen: string[] = [];
    void (async () => {
      for await (const { type } of session.events()) seen.push(type);
    })();
    const held = gated.hold("turn.ended");
    let ended = false;
    const turn = session.submit("one").then(() => {
      ended = true;
    });
    await held;
    for (let ticks = 0; ticks < 20; ticks++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual({ ended, told: seen.includes("turn.ended") }, { ended: false, told: false });
    gated.release();
    await turn;
    assert.equal(gated.stored.at(-1)?.type, "turn.ended");
    await session.shutdown();
  });

  it("4: events() listens from the call, not from the first next()", async () => {
    const { session } = open([{ text: "Done." }]);
    const events = session.events();
    await session.submit("go");
    const seen = await until(events, "turn.ended");
    assert.equal(seen[0]?.type, "session.started");
    assert.equal(only(seen, "text.delta").length, 1);
    await session.shutdown();
  });

  it("5: a reader that falls behind is dropped alone, with a retryable error, and comes back with after", async () => {
    const { session } = open(readThenAnswer);
    const slow = session.events({ capacity: 2 });
    const quick = session.events();
    void session.submit("what is in a.txt?");
    const seen = await until(quick, "turn.ended");
    await assert.rejects(until(slow, "turn.ended"), { code: "subscriber-overflow", retryable: true });
    const again = await until(session.events({ after: 2 }), "turn.ended");
    assert.deepEqual(
      again,
      seen.filter((event) => event.seq > 2 && !isEphemeral(event.type)),
    );
    await session.shutdown();
  });

  describe("6: a store failure reaches all readers and aborts the turn before anything unrecorded happens", async () => {
    const writing = [
      { text: "Go.", calls: [{ name: "Spy", input: {}, callId: "c1" }] },
      { calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" }, callId: "c2" }] },
      { text: "Done." },
    ];
    const made = join(folder, "made.txt");
    const attempt = async (gated: GatedStore) => {
      let ran = 0;
      const spy = tool("Spy", async () => {
        ran++;
        return { content: [] };
      });
      const options = { sessionStore: gated.store, tools: [spy], permissionMode: "acceptEdits" as const };
      const { session, provider } = open(writing, options);
      const readers = [session.events(), session.events()].map((events) => until(events, "turn.ended"));
      const errors: Error[] = [];
      session.on("error", (error) => errors.push(error));
      const outcome = await session.submit("go");
      const ends = await Promise.allSettled(readers);
      await session.shutdown();
      const wrote = existsSync(made);
      rmSync(made, { force: true });
      return { outcome, ends, errors, ran, wrote, requests: provider.requests.length };
    };

    const whole = new GatedStore();
    const { outcome: fine, ran, wrote } = await attempt(whole);
    const durable = whole.stored.findIndex(({ type }) => type === "turn.ended") + 1;
    it("and nothing of it happens where nothing fails", () => {
      assert.deepEqual({ type: fine.type, ran, wrote }, { type: "completed", ran: 1, wrote: true });
      assert.ok(durable > 10, String(durable));
    });

    for (let failAt = 1; failAt <= durable; failAt++) {
      const { type } = whole.stored[failAt - 1] ?? { type: "nothing" };
      it(`at event ${failAt} (${type})`, async () => {
        const gated = new GatedStore({ failAt });
        const { outcome, ends, errors, requests, ...effects } = await attempt(gated);
        assert.equal(outcome.type === "failed" && outcome.error.code, "storage-failed");
        for (const end of ends) assert.equal(end.status === "rejected" && end.reason.code, "storage-failed");
        assert.equal(errors.length, 1);
        assert.equal(gated.triedAfterFailure, 0, "nothing is written behind a failure");
        const intents = only(gated.stored, "tool.started").map(({ callId }) => callId);
        assert.deepEqual(effects, { ran: intents.includes("c1") ? 1 : 0, wrote: intents.includes("c2") });
        const isKept = gated.stored.some((event) => event.type === "turn.started");
        assert.ok(requests === 0 || isKept, "no model is asked for a turn that is not on record");
        assert.ok(
          requests <= 1 + only(gated.stored, "message.ended").length,
          "no model is asked again before its answer is on record",
        );
      });
    }
  });

  it("7: a permission question is an event out and a request in; with nobody to answer, policy denies at once and says so", async () => {
    const write = { name: "Write", input: { file_path: "new.txt", content: "x" } };
    const alone = open([{ calls: [write] }, { text: "Could not." }]);
    const unanswered = alone.session.events();
    void alone.session.submit("write it");
    const seen = await until(unanswered, "turn.ended");
    assert.deepEqual(
      seen.filter((event) => event.type.startsWith("permission") || event.type.startsWith("tool.")).map((event) => event.type),
      ["permission.requested", "permission.resolved", "permission.decided", "tool.ended"],
    );
    assert.deepEqual(
      only(seen, "permission.resolved").map(({ decision, by }) => [decision, by]),
      [["deny", "policy"]],
    );
    assert.match(JSON.stringify(only(seen, "tool.ended")[0]?.result.content), /Edit\(\.\/new\.txt\)/);
    await alone.session.shutdown();

    const attended = open([{ calls: [write] }, { text: "Written." }], { answersPermissions: true });
    attended.session.on("permission_request", ({ requestId }) => attended.session.answerPermission(requestId, "allow"));
    const answered = attended.session.events();
    void attended.session.submit("write it");
    const allowed = await until(answered, "turn.ended");
    assert.deepEqual(
      only(allowed, "permission.resolved").map(({ decision, by }) => [decision, by]),
      [["allow", "user"]],
    );
    assert.equal(only(allowed, "tool.ended")[0]?.status, "ok");
    rmSync(join(folder, "new.txt"));
    await attended.session.shutdown();
  });

  it("8: messages are a pure projection of stored events: a resumed request is the one that would have been sent", async () => {
    const store = createFileStore(join(folder, "store-8"));
    const releases: (() => void)[] = [];
    // The first call ends last, so that completion order and call order differ.
    const slow = tool("Slow", async () => {
      await new Promise<void>((resolve) => releases.push(resolve));
      return { content: [{ type: "text", text: "slow" }] };
    });
    const quick = tool("Quick", async () => {
      setImmediate(() => releases.forEach((release) => void release()));
      return { content: [{ type: "text", text: "quick" }] };
    });
    const calls = [
      { name: "Slow", input: {} },
      { name: "Quick", input: {} },
    ];
    const first = open([{ text: "Both.", calls }, { text: "Done." }], { sessionStore: store, tools: [slow, quick] });
    const events = first.session.events();
    void first.session.submit("run both");
    const seen = await until(events, "turn.ended");
    assert.deepEqual(
      only(seen, "tool.ended").map((event) => event.name),
      ["Quick", "Slow"],
    );
    await first.session.shutdown();

    const again = open([{ text: "Again." }], { sessionStore: store, tools: [slow, quick], resumeSessionId: first.session.id });
    await again.session.submit("and now?");
    await again.session.shutdown();
    const sent = first.provider.requests[1];
    const resent = again.provider.requests[0];
    assert.equal(JSON.stringify(resent?.messages.slice(0, sent?.messages.length)), JSON.stringify(sent?.messages));
    assert.equal(resent?.system, sent?.system);
    assert.equal(JSON.stringify(resent?.tools), JSON.stringify(sent?.tools));
  });

  it("9: an effect has its intent on record before it and its result after; an intent without a result is told as unknown, not repeated", async () => {
    const gated = new GatedStore();
    const { store } = gated;
    let seenByTool: string[] = [];
    const spy = tool("Spy", async () => {
      seenByTool = gated.stored.map((event) => event.type);
      return { content: [{ type: "text", text: "done" }] };
    });
    const { session } = open([{ calls: [{ name: "Spy", input: {}, callId: "c1" }] }, { text: "Ok." }], {
      sessionStore: store,
      sessionId: "s9",
      tools: [spy],
    });
    const held = gated.hold("tool.started");
    const turn = session.submit("go");
    await held;
    for (let ticks = 0; ticks < 20; ticks++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seenByTool, [], "nothing happens while its intent is not stored");
    gated.release();
    await turn;
    await session.shutdown();
    assert.equal(seenByTool.at(-1), "tool.started");
    const stored = await store.read("s9");
    const ids = stored.flatMap((event) => (event.type === "tool.started" || event.type === "tool.ended" ? [event.callId] : []));
    assert.deepEqual(ids, ["c1", "c1"]);

    const crashed = stored.slice(
      0,
      stored.findIndex((event) => event.type === "tool.ended"),
    );
    assert.match(JSON.stringify(toMessages(crashed).at(-1)), /Outcome unknown/);
    const neverStarted = crashed.filter((event) => event.type !== "tool.started");
    assert.match(JSON.stringify(toMessages(neverStarted).at(-1)), /Not run/);
  });

  it("10: a turn never throws: its outcome says how it went", async () => {
    const crash = tool("Crash", async () => {
      throw new TypeError("boom");
    });
    const cases: [readonly ScriptStep[], string][] = [
      [[{ text: "fine" }], "completed"],
      [[{ fail: { code: "provider-auth", message: "wrong key" } }], "failed provider-auth"],
      [[{ calls: [{ name: "Crash", input: {} }] }, { text: "the tool crashed" }], "completed"],
      [[{ calls: [{ name: "Nope", input: {} }] }, { text: "no such tool" }], "completed"],
      [[], "failed config"],
      [[{ text: "x", finish: "refusal" }], "failed model-refusal"],
      [[() => Promise.reject(new Error("client bug"))], "failed internal"],
    ];
    const outcomes: string[] = [];
    for (const [replies] of cases) {
      const { session } = open(replies, { tools: [crash] });
      const outcome = await session.submit("go");
      outcomes.push(outcome.type === "failed" ? `failed ${outcome.error.code}` : outcome.type);
      await session.shutdown();
    }
    assert.deepEqual(
      outcomes,
      cases.map(([, expected]) => expected),
    );
  });
});
