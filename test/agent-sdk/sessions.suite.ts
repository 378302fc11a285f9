import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import type { SDKSessionInfo, SessionMessage } from "@anthropic-ai/claude-agent-sdk";
import { Feed, initOf, nextResult, only, projectRoot, readUntil, sent, type Stage, stage, textOf } from "./harness.ts";

describe("going on with a session", () => {
  it("resume keeps the id and the history", async () => {
    const { ask, server } = await stage([{ text: "I will remember 42" }, { text: "It was 42" }]);
    const first = only(await ask("Remember 42"));
    const answered = await ask("What was it?", { resume: first.session_id });
    assert.equal(textOf(only(answered)), "It was 42");
    assert.equal(only(answered).session_id, first.session_id);
    assert.equal(initOf(answered.messages).session_id, first.session_id);
    assert.match(JSON.stringify(sent(server, 1).messages), /Remember 42.*I will remember 42.*What was it\?/);
  });

  it("what it cost goes on", async () => {
    const usage = { inputTokens: 10_000, outputTokens: 1_000 };
    const { ask } = await stage([
      { text: "a", usage },
      { text: "b", usage },
    ]);
    const first = only(await ask("One", { model: "claude-sonnet-4-6" }));
    const second = only(await ask("Two", { model: "claude-sonnet-4-6", resume: first.session_id }));
    assert.ok(first.total_cost_usd > 0);
    assert.ok(second.total_cost_usd > first.total_cost_usd * 1.9);
  });

  it("forkSession: a new id, the history copied, the first session as it was", async () => {
    const { ask, server } = await stage([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const first = only(await ask("One"));
    const forked = only(await ask("Two", { resume: first.session_id, forkSession: true }));
    assert.notEqual(forked.session_id, first.session_id);
    await ask("Three", { resume: first.session_id });
    assert.match(JSON.stringify(sent(server, 1).messages), /One/);
    assert.doesNotMatch(JSON.stringify(sent(server, 2).messages), /Two/);
  });

  it("continue takes the latest of the folder", async () => {
    const { ask, server, cwd } = await stage([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const first = only(await ask("One"));
    const other = join(cwd, "elsewhere");
    mkdirSync(other);
    await ask("Somewhere else", { cwd: other });
    const second = only(await ask("Two", { continue: true }));
    assert.equal(second.session_id, first.session_id);
    assert.match(JSON.stringify(sent(server, 2).messages), /One/);
  });

  it("sessionId is the id of the new session; one that is taken is refused", async () => {
    const { ask, server } = await stage([{ text: "a" }, { text: "b" }]);
    const sessionId = "12345678-1234-4234-8234-123456789abc";
    assert.equal(only(await ask("One", { sessionId })).session_id, sessionId);
    const { thrown } = await ask("Two", { sessionId });
    assert.ok(thrown);
    assert.equal(server.requests.length, 1);
  });

  it("an unknown id: an error result and the words of the original", async () => {
    const { ask, server } = await stage([{ text: "never" }]);
    const unknown = "99999999-9999-4999-8999-999999999999";
    const { results, thrown } = await ask("Hi", { resume: unknown });
    assert.equal(results[0]?.subtype, "error_during_execution");
    assert.match(thrown?.message ?? "", new RegExp(`No conversation found with session ID: ${unknown}`));
    assert.equal(server.requests.length, 0);
  });

  it("resumeSessionAt: only what came up to that message", async () => {
    const { open, ask, server } = await stage([{ text: "first answer" }, { text: "second answer" }, { text: "branched" }]);
    const feed = new Feed();
    const messages = open(feed)[Symbol.asyncIterator]();
    feed.say("First question");
    const seen = await readUntil(messages, (message) => message.type === "result");
    feed.say("Second question");
    const { session_id: sessionId } = await nextResult(messages);
    feed.end();
    assert.equal((await messages.next()).done, true);
    const at = seen.find((message) => message.type === "assistant");
    assert.ok(at?.uuid);
    const answered = await ask("Another question", { resume: sessionId, resumeSessionAt: at.uuid, forkSession: true });
    assert.equal(textOf(only(answered)), "branched");
    const history = JSON.stringify(sent(server, 2).messages);
    assert.match(history, /First question.*first answer.*Another question/);
    assert.doesNotMatch(history, /Second question/);
  });

  it("resumeSessionAt without forkSession keeps the id, and the SDK reads the branch it went on in", async () => {
    const world = await stage([{ text: "first answer" }, { text: "second answer" }, { text: "branched" }]);
    const { ask, server } = world;
    const first = await ask("First question");
    const at = first.messages.find((message) => message.type === "assistant");
    assert.ok(at?.uuid);
    const { session_id: sessionId } = only(first);
    await ask("Second question", { resume: sessionId });
    const answered = await ask("Another question", { resume: sessionId, resumeSessionAt: at.uuid });
    assert.equal(textOf(only(answered)), "branched");
    assert.equal(only(answered).session_id, sessionId);
    assert.doesNotMatch(JSON.stringify(sent(server, 2).messages), /Second question/);
    const { messages } = await read(world, sessionId);
    assert.match(JSON.stringify(messages), /First question.*first answer.*Another question.*branched/);
    assert.doesNotMatch(JSON.stringify(messages), /Second question/);
  });

  it("resumeSessionAt: every block of an answer is a place of its own to the SDK, and stands for its message here", async () => {
    const { ask, server } = await stage([
      { text: "thinking aloud", calls: [{ name: "Bash", input: { command: "echo tool-output" } }] },
      { text: "done" },
      { text: "branched" },
    ]);
    const first = await ask("First question", { allowedTools: ["Bash"] });
    const blocks = first.messages.filter((message) => message.type === "assistant");
    const call = blocks[1];
    assert.ok(call?.uuid && call.message.content[0]?.type === "tool_use");
    const answered = await ask("Another question", {
      resume: only(first).session_id,
      resumeSessionAt: call.uuid,
      forkSession: true,
    });
    assert.equal(textOf(only(answered)), "branched");
    assert.doesNotMatch(JSON.stringify(sent(server, 2).messages), /"done"/);
  });

  it("persistSession false: nothing is kept", async () => {
    const { ask, home } = await stage([{ text: "a" }]);
    const first = only(await ask("One", { persistSession: false }));
    assert.ok(!existsSync(join(home, ".outrider/sessions")));
    assert.ok(!existsSync(join(home, ".claude/projects")));
    const { thrown } = await ask("Two", { resume: first.session_id });
    assert.ok(thrown);
  });
});

describe("session files", () => {
  it("are listed and read by the SDK's own functions", async () => {
    const world = await stage([
      { text: "Looking", calls: [{ name: "Bash", input: { command: "echo seen" }, callId: "toolu_look" }] },
      { text: "I have seen it" },
    ]);
    const answered = await world.ask("Look at it please", { allowedTools: ["Bash"], title: "A title of mine" });
    const { session_id: sessionId } = only(answered);
    const { sessions, everywhere, messages, info } = await read(world, sessionId);
    const [session] = sessions;
    assert.equal(sessions.length, 1);
    assert.equal(everywhere.length, 1);
    assert.equal(session?.sessionId, sessionId);
    assert.equal(session?.firstPrompt, "Look at it please");
    assert.equal(session?.customTitle, "A title of mine");
    assert.equal(session?.cwd, world.cwd);
    assert.ok((session?.createdAt ?? 0) > Date.now() - 60_000);
    assert.equal(info?.sessionId, sessionId);
    assert.deepEqual(
      messages.map(({ type }) => type),
      ["user", "assistant", "assistant", "user", "assistant"],
    );
    assert.match(JSON.stringify(messages[0]), /Look at it please/);
    assert.match(JSON.stringify(messages[3]), /toolu_look.*seen/);
    const shown = answered.messages.flatMap((message) => (message.type === "assistant" ? [message.uuid] : []));
    const stored = messages.flatMap((message) => (message.type === "assistant" ? [message.uuid] : []));
    assert.deepEqual(stored, shown);
    const shownResults = answered.messages.flatMap((message) => (message.type === "user" ? [message.uuid] : []));
    assert.deepEqual([messages[3]?.uuid], shownResults);
  });

  it("hold all turns of a resumed session, once each", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const { session_id: sessionId } = only(await world.ask("First"));
    await world.ask("Second", { resume: sessionId });
    await world.ask("Third", { resume: sessionId });
    const { messages, sessions } = await read(world, sessionId);
    assert.equal(sessions.length, 1);
    assert.deepEqual(
      messages.map(({ type }) => type),
      ["user", "assistant", "user", "assistant", "user", "assistant"],
    );
    assert.equal(new Set(messages.map(({ uuid }) => uuid)).size, 6);
  });

  it("a fork has a file of its own, with the history in it", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const { session_id: sessionId } = only(await world.ask("First"));
    const fork = only(await world.ask("Second", { resume: sessionId, forkSession: true })).session_id;
    const { messages, sessions } = await read(world, fork);
    assert.equal(sessions.length, 2);
    assert.equal(messages.length, 4);
    assert.equal((await read(world, sessionId)).messages.length, 2);
  });

  it("any uuid of getSessionMessages may be given to resumeSessionAt", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }, { text: "branched" }]);
    const { session_id: sessionId } = only(await world.ask("First"));
    await world.ask("Second", { resume: sessionId });
    const { messages } = await read(world, sessionId);
    const at = messages[1]?.uuid ?? "";
    await world.ask("Branch", { resume: sessionId, resumeSessionAt: at, forkSession: true });
    assert.doesNotMatch(JSON.stringify(sent(world.server, 2).messages), /Second/);
  });

  it("a subagent's messages are in a file of their own", async () => {
    const world = await stage([
      { calls: [{ name: "Task", input: { description: "count", prompt: "count it", subagent_type: "counter" } }] },
      { text: "four" },
      { text: "There are four" },
    ]);
    const { session_id: sessionId } = only(
      await world.ask("Count", { agents: { counter: { description: "counts", prompt: "You count" } } }),
    );
    const { messages, subagents, subagentMessages } = await read(world, sessionId);
    assert.equal(messages.length, 4);
    assert.equal(subagents.length, 1);
    assert.match(JSON.stringify(subagentMessages), /count it.*four/);
  });

  it("can be switched off", async () => {
    const world = await stage([{ text: "one" }]);
    await world.ask("First", { env: { OUTRIDER_CLAUDE_SESSIONS: "off" } });
    assert.ok(!existsSync(join(world.home, ".claude/projects")));
  });
});

type Stored = {
  sessions: SDKSessionInfo[];
  everywhere: SDKSessionInfo[];
  messages: SessionMessage[];
  info: SDKSessionInfo | undefined;
  subagents: string[];
  subagentMessages: SessionMessage[];
};

async function read({ env, cwd }: Stage, sessionId: string): Promise<Stored> {
  const script = join(projectRoot, "test/agent-sdk/read-sessions.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [script, cwd, sessionId], { env });
  return JSON.parse(stdout) as Stored; // as the script writes it
}
