import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { textOf, userText } from "../../protocol/content.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { LiveHost } from "../../../../../test/support/live-host.ts";
import { LivePrompts } from "./live-prompts.ts";

const done = "11111111-0000-4000-8000-000000000000";
const [waiting, dropped] = ["no uuid", "another"];

describe("the messages of a host", () => {
  it("are known by their names, and bring along what was kept for the next of them", () => {
    const prompts = new LivePrompts();
    assert.deepEqual(
      [prompts.isNew("a"), prompts.isNew("a"), prompts.isNew(undefined), prompts.isNew(undefined)],
      [true, false, true, true],
    );
    prompts.keep(userText("note one. "));
    prompts.keep(userText("note two. "));
    const texts = ["question", "another"].map((text) => textOf(prompts.add(userText(text), undefined).input.content));
    assert.deepEqual(texts, ["note one. note two. question", "another"]);
  });

  it("wait until they begin, and are done with when each has its result", async () => {
    const prompts = new LivePrompts();
    const [one, two] = [prompts.add(userText("one"), "u-1"), prompts.add(userText("two"), done)];
    assert.equal(two.turnId, done);
    const envelope = { seq: 1, at: "", sessionId: "s", type: "prompt.accepted", mode: "queue", input: one.input } as const;
    assert.equal(prompts.accept({ ...envelope, promptId: "named-otherwise", key: "u-1" }), one);
    assert.deepEqual([one.state, two.state, prompts.waiting.length, prompts.entering.length], ["accepted", "entering", 2, 1]);
    assert.equal(prompts.begin("named-otherwise"), one);
    assert.deepEqual([prompts.turnOf("u-1"), prompts.waiting], ["named-otherwise", [two]]);
    let isDone = false;
    const all = prompts.done().then(() => {
      isDone = true;
    });
    prompts.end(one);
    await Promise.resolve();
    assert.equal(isDone, false);
    prompts.end(two);
    await all;
    assert.equal(prompts.begin("named-otherwise"), undefined);
  });
});

describe("messages of an earlier process", () => {
  let cwd = "";
  let host: LiveHost | undefined;

  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "outrider-live-prompts-"));
  });
  afterEach(async () => {
    await host?.close();
    rmSync(cwd, { recursive: true, force: true });
  });

  /** One message is done, one was cut off in its turn, and two are accepted and have not begun. */
  async function resume(): Promise<LiveHost> {
    const sessionStore = createFileStore(join(cwd, "sessions"));
    const provider = createScriptedProvider([{ text: "done before" }, { hang: true }]);
    const earlier = new InteractiveSession({ cwd, provider, sessionStore });
    await earlier.submit("first", { key: done, id: done });
    void earlier.submit("hanging");
    for (const uuid of [waiting, dropped]) await earlier.accept("second", { key: uuid });
    await earlier.shutdown({ waiting: "keep" });
    host = new LiveHost({
      cwd,
      replies: [{ text: "new" }, { text: "done now" }],
      session: { sessionStore, sessionId: undefined, resumeSessionId: earlier.id },
      live: { notices: { fates: true, states: false } },
    });
    return host;
  }

  it("do not run by themselves, go on when they are sent again, and are answered when they were done", async () => {
    const live = await resume();
    live.say("third");
    assert.equal((await live.result(1))["result"], "new");
    live.say("second", { uuid: waiting });
    assert.equal((await live.result(2))["result"], "done now");
    live.say("first", { uuid: done });
    assert.equal((await live.result(3))["result"], "done before");
    assert.deepEqual(
      live.requests.map(({ messages }) => textOf(messages.at(-1)?.content ?? [])),
      ["third", "second"],
    );
    const fates = live.frames.flatMap(({ type, command_uuid: uuid, state }) =>
      type === "command_lifecycle" && uuid === waiting ? [state] : [],
    );
    assert.deepEqual(fates, ["started", "completed"]);
  });

  it("can be taken back", async () => {
    const live = await resume();
    live.say("third");
    await live.result(1);
    live.request("r1", { subtype: "cancel_async_message", message_uuid: dropped });
    live.request("r2", { subtype: "cancel_async_message", message_uuid: dropped });
    assert.deepEqual(
      [(await live.reply("r1"))["response"], (await live.reply("r2"))["response"]],
      [{ cancelled: true }, { cancelled: false }],
    );
    live.say("fourth");
    assert.equal((await live.result(2))["result"], "done now");
    await live.end();
    assert.equal(live.results.length, 2);
  });
});
