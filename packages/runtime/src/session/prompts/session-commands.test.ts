import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { builtinPrompts } from "../../commands/builtin/builtin-commands.ts";
import { promptText } from "../../commands/builtin/prompt-texts.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { textOf, userText } from "../../protocol/content.ts";
import { SessionCommands } from "./session-commands.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-compact-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies, { contextWindow: 100_000 });
  const store = createMemoryStore();
  return { provider, store, session: new InteractiveSession({ cwd, provider, sessionStore: store, ...options }) };
}

describe("/compact as a prompt", () => {
  it("is told from what only looks like it", () => {
    const commands = new SessionCommands();
    const focusOf = (text: string): unknown => commands.called(userText(text))?.args;
    const prompts = [" /compact", "/usr/compact", "please /compact", "/ compact", "//compact", "/tmp", "/tmp is full"];
    assert.deepEqual(["/compact", "/compact focus on\nauth ", ...prompts].map(focusOf), [
      "",
      "focus on\nauth",
      ...prompts.map(() => undefined),
    ]);
  });

  it("summarises with its words as the focus, is a turn with one end, and no part of the conversation", async () => {
    const { session, provider, store } = open([
      { text: "a" },
      { text: "what happened", usage: { inputTokens: 70, outputTokens: 5 } },
      { text: "b" },
    ]);
    await session.submit("one");
    const outcome = await session.submit("/compact focus on auth");
    assert.match(outcome.text, /^Older messages gave way to a summary: about [\d,]+ tokens before, [\d,]+ now$/);
    await session.submit("two");
    await session.shutdown();
    assert.match(textOf(provider.requests[1]?.messages[0]?.content ?? []), /focus on auth$/);
    const sent = JSON.stringify(provider.requests[2]?.messages);
    assert.match(sent, /what happened/);
    assert.doesNotMatch(sent, /\/compact/);
    const [, ended] = (await store.read(session.id)).filter((event) => event.type === "turn.ended");
    assert.deepEqual([ended?.outcome.type, ended?.usage.inputTokens, ended?.modelCalls], ["completed", 70, 0]);
  });

  it("says so when there is nothing to do, and fails like any other prompt", async () => {
    const { session } = open([{ text: "a" }, { fail: { code: "provider-auth", message: "wrong key" } }]);
    assert.deepEqual(await session.submit("/compact"), { type: "completed", text: "Nothing to summarise yet" });
    await session.submit("one");
    const outcome = await session.submit("/compact");
    assert.equal(outcome.type === "failed" && outcome.error.code, "provider-auth");
    await session.shutdown();
  });

  it("waits for the turn that runs, and can be interrupted", async () => {
    const { session } = open([{ text: "a", delayMs: 30 }, { hang: true }, { text: "b" }]);
    const turn = session.submit("one");
    const compacting = session.submit("/compact", { mode: "steer" });
    for await (const event of session.events()) if (event.type === "compaction.started") break;
    await turn;
    session.abort();
    assert.deepEqual(await compacting, { type: "cancelled", cause: "abort", text: "" });
    assert.deepEqual(await session.submit("two"), { type: "completed", text: "b" });
    await session.shutdown();
  });

  it("is not what somebody meant who typed another name, and no model is asked", async () => {
    const { session, provider } = open([]);
    for (const [typed, message] of [
      ["/compacct now", 'Unknown command "/compacct". Did you mean /compact? With a space in front it is a prompt.'],
      ["/zzzzzzzzzz", 'Unknown command "/zzzzzzzzzz". /help lists what there is. With a space in front it is a prompt.'],
    ] as const) {
      const outcome = await session.submit(typed);
      assert.deepEqual(outcome.type === "failed" && [outcome.error.code, outcome.error.message], ["usage", message]);
    }
    assert.equal(provider.requests.length, 0);
    await session.shutdown();
  });

  it("is a prompt like any other where there are no commands", async () => {
    const provider = createScriptedProvider([{ text: "a" }]);
    const session = new InteractiveSession({ cwd, provider, slashCommands: false });
    assert.deepEqual([(await session.submit("/compact")).text, session.listCommands()], ["a", []]);
    await session.shutdown();
  });

  it("is a command like any other", async () => {
    const { session } = open([{ text: "a" }, { text: "what happened" }]);
    assert.ok(session.listCommands().some(({ name }) => name === "compact"));
    await session.submit("one");
    const result = await session.executeCommand("compact", "");
    assert.deepEqual([result?.success, await session.executeCommand("nothing", "")], [true, null]);
    await session.shutdown();
    assert.equal((await session.executeCommand("compact", ""))?.success, false);
  });
});

describe("prompts that everybody knows by a name", () => {
  it("are asked of the model, with what was typed behind them as data", async () => {
    const { session, provider } = open([{ text: "a" }, { text: "b" }]);
    assert.equal((await session.submit("/review 12 $1")).text, "a");
    assert.equal((await session.submit("/init")).text, "b");
    const [review, init] = [1, 3].map((count) => {
      const message = provider.requests.find(({ messages }) => messages.length === count)?.messages.at(-1);
      return message?.content.map((part) => (part.type === "text" ? part.text : "")) ?? [];
    });
    assert.match(review?.[0] ?? "", /^<command-message>review<.*\n<command-name>\/review<.*\n<command-args>12 \$1</);
    assert.match(review?.[1] ?? "", /^Review a change[\s\S]*\n\nWhat was asked for: 12 \$1$/);
    assert.match(init?.[1] ?? "", /CLAUDE\.md/);
    assert.doesNotMatch(init?.[1] ?? "", /asked for/);
    await session.shutdown();
  });

  it("are listed, and each has its words", async () => {
    const { session } = open([]);
    const listed = session.listCommands().map(({ name }) => name);
    for (const { name } of builtinPrompts) {
      assert.ok(listed.includes(name));
      assert.ok(promptText(name, "").length > 400, name);
    }
    await session.shutdown();
  });
});

describe("/context as a prompt", () => {
  it("tells what fills the window without asking a model, and adds up", async () => {
    const instructions = { text: "House rules. ".repeat(200), files: [], warnings: [] };
    const look = { calls: [{ name: "Read", input: { file_path: "nothing.txt" } }] };
    const { session, provider } = open([look, { text: "a" }, { text: "A summary." }], { instructions });
    await session.submit("one");
    const outcome = await session.submit("/context");
    const text = outcome.type === "completed" ? outcome.text : "";
    assert.match(text, /^About [\d,]+ of 100,000 tokens \([\d.]+ %\) of scripted are in use; room is made at 83,500\.\n/);
    const result = await session.executeCommand("context", "");
    assert.ok(result);
    const { usedTokens, shares } = result.data as { usedTokens: number; shares: { name: string; tokens: number }[] };
    const names = ["system prompt", "instructions", "tools", "prompts", "answers and calls", "files"];
    assert.deepEqual(shares.map(({ name }) => name).sort(), names.sort());
    for (const { name } of shares) assert.match(text, new RegExp(`^${name} +[\\d,]+ +[\\d.]+ %$`, "m"));
    const sum = shares.reduce((all, { tokens }) => all + tokens, 0);
    assert.ok(Math.abs(sum - usedTokens) <= shares.length + 4, `${sum} is not ${usedTokens}`);
    assert.equal(provider.requests.length, 2);
    await session.compact();
    const after = (await session.executeCommand("context", ""))?.data as { shares: { name: string }[] };
    assert.ok(after.shares.some(({ name }) => name === "summary"));
    await session.shutdown();
  });
});

describe("edit checkpoints of a session", () => {
  it("are refused in words where none are kept", async () => {
    const { session } = open([]);
    for (const look of [
      () => session.listEditCheckpoints(),
      () => session.inspectEditCheckpoint("1"),
      () => session.restoreEditCheckpoint("1"),
      () => session.rollbackEditCheckpoint("1"),
    ])
      await assert.rejects(look, { code: "usage", message: /keeps no checkpoints/ });
    await session.shutdown();
  });
});
