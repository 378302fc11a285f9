import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { textOf } from "../../protocol/content.ts";
import type { AgentEvent, EventType } from "../../protocol/events.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-inbox-"));
after(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies);
  const store = options.sessionStore ?? createFileStore(join(root, String(folders++)));
  const session = new InteractiveSession({ cwd: root, provider, ...options, sessionStore: store });
  const prompts = (): string[] =>
    provider.requests.map(({ messages }) => textOf(messages.findLast(({ role }) => role === "user")?.content ?? []));
  const ofType = async <T extends EventType>(...types: T[]): Promise<AgentEvent<T>[]> =>
    (await store.read(session.id, { types })) as AgentEvent<T>[];
  return { provider, store, session, prompts, ofType };
}

async function until(session: InteractiveSession, type: EventType): Promise<void> {
  for await (const event of session.events()) if (event.type === type) return;
}

const look: ScriptStep = { calls: [{ name: "Glob", input: { pattern: "*.none" } }], delayMs: 20 };

describe("prompts that wait", () => {
  it("are on record before they are accepted, begin in their order, and each has one outcome", async () => {
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { session, prompts, ofType } = open([() => asked.then(() => ({ text: "a" })), { text: "b" }, { text: "c" }]);
    const first = session.submit("one");
    const second = await session.accept("two");
    const third = await session.accept("three", { displayInput: "shown three" });
    assert.deepEqual(
      (await ofType("prompt.accepted")).map(({ promptId, mode, displayInput }) => [promptId, mode, displayInput]),
      [
        [second.id, "queue", undefined],
        [third.id, "queue", "shown three"],
      ],
    );
    assert.deepEqual(
      session.inbox.map(({ id, isHeld }) => [id, isHeld]),
      [
        [second.id, false],
        [third.id, false],
      ],
    );
    answer();
    assert.deepEqual(
      [await first, await second.outcome, await third.outcome].map(({ text }) => text),
      ["a", "b", "c"],
    );
    assert.deepEqual(prompts(), ["one", "two", "three"]);
    const begun = (await ofType("turn.started")).map(({ turnId }) => turnId);
    assert.deepEqual(begun.slice(1), [second.id, third.id]);
    assert.deepEqual(session.inbox, []);
    await session.shutdown();
  });

  it("are no more than their turn on record where nothing stands before them", async () => {
    const { session, ofType } = open([{ text: "a" }, { text: "b" }]);
    await session.submit("one");
    await session.submit("two");
    assert.deepEqual(await ofType("prompt.accepted"), []);
    await session.shutdown();
  });

  it("join the running turn with steer, on record under their own name, and end with it", async () => {
    const { session, provider, ofType } = open([look, { text: "both" }]);
    const first = session.submit("one");
    const second = await session.accept("two", { mode: "steer" });
    assert.deepEqual(
      [await first, await second.outcome].map(({ text }) => text),
      ["both", "both"],
    );
    assert.equal(provider.requests.length, 2);
    const [added] = await ofType("input.added");
    assert.deepEqual([added?.origin, added?.promptId], ["user", second.id]);
    assert.equal((await ofType("turn.started")).length, 1);
    await session.shutdown();
  });

  it("have a turn of their own when the turn they should join does not ask again", async () => {
    const { session, prompts } = open([{ text: "a", delayMs: 20 }, { text: "b" }]);
    const first = session.submit("one");
    const second = session.submit("two", { mode: "steer" });
    assert.deepEqual([(await first).text, (await second).text], ["a", "b"]);
    assert.deepEqual(prompts(), ["one", "two"]);
    await session.shutdown();
  });

  it("end the running turn with now, and go before what waits", async () => {
    const { session, prompts } = open([{ text: "hanging", hang: true }, { text: "urgent" }, { text: "later" }]);
    const first = session.submit("one");
    await until(session, "text.delta");
    const second = session.submit("two");
    const third = session.submit("three", { mode: "now" });
    assert.deepEqual([(await first).type, (await third).text, (await second).text], ["cancelled", "urgent", "later"]);
    assert.deepEqual(prompts(), ["one", "three", "two"]);
    await session.shutdown();
  });

  it("are cancelled by their id, for good", async () => {
    const { session, prompts, ofType } = open([{ text: "a", delayMs: 40 }, { text: "c" }]);
    const first = session.submit("one");
    const second = await session.accept("two");
    const third = session.submit("three");
    assert.deepEqual(
      [await session.cancelPrompt(second.id), await session.cancelPrompt(second.id), await session.cancelPrompt("none")],
      [true, false, false],
    );
    assert.deepEqual(await second.outcome, { type: "cancelled", cause: "abort", text: "" });
    await Promise.all([first, third]);
    assert.deepEqual(prompts(), ["one", "three"]);
    assert.deepEqual(
      (await ofType("prompt.cancelled")).map(({ promptId }) => promptId),
      [second.id],
    );
    await session.shutdown();
  });

  it("go on when only the running turn is interrupted", async () => {
    const { session } = open([{ text: "hanging", hang: true }, { text: "b" }]);
    const first = session.submit("one");
    await until(session, "text.delta");
    const second = session.submit("two");
    session.interrupt();
    assert.deepEqual([(await first).type, (await second).text], ["cancelled", "b"]);
    await session.shutdown();
  });

  it("are refused beyond a number and beyond an amount, in words, and those before them run", async () => {
    const { session } = open([{ text: "a", delayMs: 30 }, { text: "b" }], { inbox: { maxBytes: 10 } });
    const first = session.submit("one");
    const second = session.submit("123456");
    await assert.rejects(session.accept("78901"), { code: "busy", message: /10 bytes wait already/ });
    assert.deepEqual([(await first).text, (await second).text], ["a", "b"]);
    await session.shutdown();
  });

  it("are seen by their hooks before they are stored: what is blocked is not kept and has an end of its own", async () => {
    const { session, store, prompts } = open([{ text: "a", delayMs: 60 }, { text: "c" }], {
      hooks: {
        UserPromptSubmit: [
          {
            hooks: [
              ({ prompt }) =>
                String(prompt).includes("password")
                  ? { decision: "block", reason: "No passwords." }
                  : { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: `seen ${prompt}` } },
            ],
          },
        ],
      },
    });
    const first = session.submit("one");
    const second = await session.accept("my password is swordfish");
    const third = await session.accept("three");
    assert.equal((await first).text, "a");
    assert.deepEqual(await second.outcome, { type: "stopped", limit: "hook", text: "", reason: "No passwords." });
    assert.equal((await third.outcome).text, "c");
    const stored = JSON.stringify(await store.read(session.id));
    assert.doesNotMatch(stored, /swordfish/);
    assert.equal(stored.split("seen three").length - 1 > 0, true);
    assert.match(prompts()[1] ?? "", /seen three/);
    await session.shutdown();
  });
});

describe("prompts with a key", () => {
  it("are the same prompt when they come again: waiting, at work, done, and in another process", async () => {
    const { session, store, prompts } = open([
      { text: "a", delayMs: 30 },
      { text: "b", delayMs: 30 },
    ]);
    const first = session.accept("one", { key: "k1" });
    const again = session.accept("one", { key: "k1" });
    const second = await session.accept("two", { key: "k2" });
    const waiting = await session.accept("two", { key: "k2", mode: "now" });
    assert.deepEqual([(await again).id, (await again).isRepeated], [(await first).id, true]);
    assert.deepEqual([waiting.id, waiting.isRepeated], [second.id, true]);
    assert.deepEqual(
      [await (await first).outcome, await (await again).outcome, await second.outcome, await waiting.outcome].map(
        ({ text }) => text,
      ),
      ["a", "a", "b", "b"],
    );
    assert.equal((await session.submit("one", { key: "k1" })).text, "a");
    await session.shutdown();
    const later = open([], { sessionStore: store, resumeSessionId: session.id });
    assert.equal((await later.session.submit("two", { key: "k2" })).text, "b");
    assert.deepEqual([prompts(), later.prompts()], [["one", "two"], []]);
    await later.session.shutdown();
  });

  it("answer the end of the turn that they joined, in another process too", async () => {
    const { session, store } = open([look, { text: "both" }]);
    const first = session.submit("one");
    await session.accept("two", { mode: "steer", key: "k" });
    await first;
    await session.shutdown();
    const later = open([], { sessionStore: store, resumeSessionId: session.id });
    assert.equal((await later.session.submit("two", { key: "k" })).text, "both");
    await later.session.shutdown();
  });
});

describe("prompts of a session that is shut down", () => {
  it("are cancelled, and stay so", async () => {
    const { session, store } = open([{ hang: true }]);
    const first = session.submit("one");
    const second = await session.accept("two");
    await session.shutdown();
    assert.deepEqual([(await first).type, (await second.outcome).type], ["cancelled", "cancelled"]);
    const later = open([], { sessionStore: store, resumeSessionId: session.id });
    await later.session.open();
    assert.deepEqual(later.session.inbox, []);
    await later.session.shutdown();
  });

  it("or kept: held when it is opened again, and begun once when somebody says so", async () => {
    const { session, store } = open([{ hang: true }]);
    void session.submit("one");
    const second = await session.accept("two", { displayInput: "shown", maxTurns: 1 });
    const third = await session.accept("three", { mode: "now", key: "k" });
    await session.shutdown({ waiting: "keep" });
    await assert.rejects(second.outcome, { code: "closed" });
    const later = open([{ text: "new" }, { text: "three" }, look], {
      sessionStore: store,
      resumeSessionId: session.id,
    });
    await later.session.open();
    assert.match((await later.ofType("warning.raised")).at(-1)?.message ?? "", /^2 prompts were accepted .*: "three", "shown"\./);
    assert.deepEqual(
      later.session.inbox.map(({ id, displayInput, isHeld, key }) => [id, displayInput, isHeld, key]),
      [
        [third.id, undefined, true, "k"],
        [second.id, "shown", true, undefined],
      ],
    );
    assert.equal((await later.session.submit("mine")).text, "new");
    assert.equal((await later.session.submit("three", { key: "k" })).text, "three");
    await later.session.goOn();
    await until(later.session, "turn.ended");
    assert.deepEqual(later.prompts(), ["mine", "three", "two"]);
    const [last] = (await later.ofType("turn.ended")).slice(-1);
    assert.deepEqual(last?.outcome, { type: "stopped", limit: "max-turns", text: "" }); // its own limit is kept with it
    await later.session.shutdown();
    const again = open([], { sessionStore: store, resumeSessionId: session.id });
    await again.session.open();
    assert.deepEqual(again.session.inbox, []);
    await again.session.shutdown();
  });

  it("are on record when they were accepted while it was shut down", async () => {
    const { session, store } = open([{ text: "hanging", hang: true }], {
      hooks: { UserPromptSubmit: [{ hooks: [() => new Promise((resolve) => setTimeout(() => resolve({}), 20))] }] },
    });
    void session.submit("one");
    await until(session, "turn.started");
    const accepted = session.accept("two").then(
      () => "accepted",
      () => "refused",
    );
    await session.shutdown({ waiting: "keep" });
    const isOnRecord = JSON.stringify(await store.read(session.id)).includes('"two"');
    assert.equal(await accepted, isOnRecord ? "accepted" : "refused");
  });

  it("stay with the original when the session is copied, and are left behind when it goes back", async () => {
    const { session, store, ofType } = open([{ text: "a" }, { hang: true }]);
    await session.submit("zero");
    const [ended] = await ofType("turn.ended");
    void session.submit("one");
    await session.accept("two", { key: "k" });
    await session.shutdown({ waiting: "keep" });
    await store.fork(session.id, "copy");
    const copy = open([{ text: "fresh" }], { sessionStore: store, resumeSessionId: "copy" });
    await copy.session.open();
    assert.deepEqual(copy.session.inbox, []);
    assert.equal((await copy.session.submit("two", { key: "k" })).text, "fresh");
    await copy.session.shutdown();
    const back = open([], { sessionStore: store, resumeSessionId: session.id, resumeAt: ended?.seq });
    await back.session.open();
    assert.deepEqual(back.session.inbox, []);
    await back.session.shutdown();
  });
});
