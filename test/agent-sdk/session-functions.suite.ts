import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import {
  getSessionMessages,
  InMemorySessionStore,
  listSessions,
  type SDKSessionInfo,
  type SessionMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { only, projectRoot, sent, type Stage, stage, textOf } from "./harness.ts";

describe("forkSession()", () => {
  it("makes a session that can be resumed, with its history, and the first one stays as it was", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }, { text: "three" }, { text: "four" }]);
    const { session_id: source } = only(await world.ask("Remember 42"));
    const { sessionId: fork } = await call<{ sessionId: string }>(world, "forkSession", [
      source,
      { dir: world.cwd, title: "A branch" },
    ]);
    const answered = only(await world.ask("In the fork", { resume: fork }));
    assert.equal(textOf(answered), "two");
    assert.equal(answered.session_id, fork);
    assert.match(JSON.stringify(sent(world.server, 1).messages), /Remember 42.*one.*In the fork/);
    await world.ask("Once more", { resume: fork });
    assert.match(JSON.stringify(sent(world.server, 2).messages), /Remember 42.*one.*In the fork.*two.*Once more/);
    await world.ask("In the first", { resume: source });
    assert.doesNotMatch(JSON.stringify(sent(world.server, 3).messages), /In the fork/);
    const messages = await call<SessionMessage[]>(world, "getSessionMessages", [fork, { dir: world.cwd }]);
    assert.equal(messages.length, 6);
    const sessions = await call<SDKSessionInfo[]>(world, "listSessions", [{ dir: world.cwd }]);
    assert.deepEqual(sessions.map(({ customTitle }) => customTitle ?? "").sort(), ["", "A branch"]);
  });

  it("upToMessageId, tools in the history, and resumeSessionAt with a uuid of the fork", async () => {
    const world = await stage([
      { text: "Looking", calls: [{ name: "Bash", input: { command: "echo seen" }, callId: "toolu_look" }] },
      { text: "I have seen it" },
      { text: "later" },
      { text: "in the fork" },
      { text: "cut" },
    ]);
    const { session_id: source } = only(await world.ask("Look", { allowedTools: ["Bash"] }));
    await world.ask("And later", { resume: source });
    const before = await call<SessionMessage[]>(world, "getSessionMessages", [source, {}]);
    const { sessionId: fork } = await call<{ sessionId: string }>(world, "forkSession", [
      source,
      { upToMessageId: before[4]?.uuid },
    ]);
    await world.ask("Branch", { resume: fork });
    const told = JSON.stringify(sent(world.server, 3).messages);
    assert.match(told, /Look.*Looking.*toolu_look.*seen.*I have seen it.*Branch/);
    assert.doesNotMatch(told, /And later/);
    const messages = await call<SessionMessage[]>(world, "getSessionMessages", [fork, {}]);
    await world.ask("Cut", { resume: fork, resumeSessionAt: messages[1]?.uuid ?? "", forkSession: true });
    assert.doesNotMatch(JSON.stringify(sent(world.server, 4).messages), /I have seen it|Branch/);
  });

  it("forkSession: true of such a fork works as of any other session", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const { session_id: source } = only(await world.ask("First"));
    const { sessionId: fork } = await call<{ sessionId: string }>(world, "forkSession", [source]);
    const again = only(await world.ask("Second", { resume: fork, forkSession: true }));
    assert.ok(![source, fork].includes(again.session_id));
    assert.match(JSON.stringify(sent(world.server, 1).messages), /First.*one.*Second/);
  });
});

describe("the command without the SDK", () => {
  it("goes on with a session that was made in the folder of Claude Code, unless that is switched off", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const { session_id: source } = only(await world.ask("Remember 42"));
    const { sessionId: fork } = await call<{ sessionId: string }>(world, "forkSession", [source]);
    const args = ["-p", "--resume", fork, "And on"];
    const off = { ...world, env: { ...world.env, OUTRIDER_CLAUDE_SESSIONS: "off" } };
    await assert.rejects(outrider(off, args), /No conversation found/);
    assert.equal((await outrider(world, args)).trim(), "two");
    assert.match(JSON.stringify(sent(world.server, 1).messages), /Remember 42.*one.*And on/);
  });
});

describe("a session that Claude Code held", () => {
  it("is gone on with, in the same file", async () => {
    const world = await stage([{ text: "Still 42" }]);
    const sessionId = "6a0c1f1e-0000-4000-8000-00000000c0de";
    const folder = join(world.env["CLAUDE_CONFIG_DIR"] ?? "", "projects", world.cwd.replace(/[^a-zA-Z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    const common = { isSidechain: false, sessionId, cwd: world.cwd, version: "2.1.325", timestamp: "2026-01-01T00:00:00.000Z" };
    const lines = [
      { type: "queue-operation", operation: "enqueue", sessionId },
      {
        ...common,
        type: "user",
        uuid: "00000000-0000-4000-8000-000000000001",
        parentUuid: null,
        message: { role: "user", content: "It is 42" },
      },
      {
        ...common,
        type: "assistant",
        uuid: "00000000-0000-4000-8000-000000000002",
        parentUuid: "00000000-0000-4000-8000-000000000001",
        message: { id: "msg_1", role: "assistant", model: "claude-opus-4-5", content: [{ type: "text", text: "I see" }] },
      },
    ];
    writeFileSync(join(folder, `${sessionId}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const answered = only(await world.ask("What is it?", { resume: sessionId }));
    assert.equal(textOf(answered), "Still 42");
    assert.match(JSON.stringify(sent(world.server, 0).messages), /It is 42.*I see.*What is it\?/);
    const messages = await call<SessionMessage[]>(world, "getSessionMessages", [sessionId, {}]);
    assert.equal(messages.length, 4);
  });
});

describe("renameSession(), tagSession(), deleteSession()", () => {
  it("a new name is the session's own: it resumes by it, and keeps it", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const { session_id: sessionId } = only(await world.ask("First", { title: "Old name" }));
    await call(world, "renameSession", [sessionId, "New name", { dir: world.cwd }]);
    await call(world, "tagSession", [sessionId, "mine", { dir: world.cwd }]);
    assert.equal(only(await world.ask("Second", { resume: "New name" })).session_id, sessionId);
    await world.ask("Third", { resume: sessionId, title: "Not this" });
    const info = await call<SDKSessionInfo>(world, "getSessionInfo", [sessionId, { dir: world.cwd }]);
    assert.deepEqual([info.customTitle, info.tag], ["New name", "mine"]);
    assert.match(await outrider(world, ["sessions", "list"]), /New name/);
  });

  it("a deleted session cannot be resumed", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const { session_id: sessionId } = only(await world.ask("First"));
    await call(world, "deleteSession", [sessionId, { dir: world.cwd }]);
    const { results, thrown } = await world.ask("Second", { resume: sessionId });
    assert.match(thrown?.message ?? "", /No conversation found with session ID/);
    assert.equal(results[0]?.subtype, "error_during_execution");
    assert.equal(world.server.requests.length, 1);
  });
});

describe("outrider sessions rm", () => {
  it("takes the copy away too, so that nobody finds the session again", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const { session_id: sessionId } = only(await world.ask("First"));
    await outrider(world, ["sessions", "rm", "--yes", sessionId]);
    assert.deepEqual(await call<SDKSessionInfo[]>(world, "listSessions", [{ dir: world.cwd }]), []);
    const { thrown } = await world.ask("Second", { resume: sessionId });
    assert.match(thrown?.message ?? "", /No conversation found/);
  });
});

describe("from another folder", () => {
  it("a session that is resumed there stays one session, and whole", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const elsewhere = join(world.home, "elsewhere");
    mkdirSync(elsewhere);
    const { session_id: sessionId } = only(await world.ask("First"));
    assert.equal(only(await world.ask("Second", { resume: sessionId, cwd: elsewhere })).session_id, sessionId);
    const messages = await call<SessionMessage[]>(world, "getSessionMessages", [sessionId, {}]);
    assert.equal(messages.length, 4);
    assert.equal((await call<SDKSessionInfo[]>(world, "listSessions", [{}])).length, 1);
  });
});

describe("sessionStore", () => {
  it("gets every line of the session, and is read by the SDK's own functions", async () => {
    const world = await stage([
      { text: "Looking", calls: [{ name: "Bash", input: { command: "echo seen" }, callId: "toolu_look" }] },
      { text: "I have seen it" },
    ]);
    const store = new InMemorySessionStore();
    const { session_id: sessionId } = only(await world.ask("Look", { sessionStore: store, allowedTools: ["Bash"] }));
    const messages = await getSessionMessages(sessionId, { sessionStore: store, dir: world.cwd });
    assert.deepEqual(
      messages.map(({ type }) => type),
      ["user", "assistant", "assistant", "user", "assistant"],
    );
    assert.deepEqual(
      (await listSessions({ sessionStore: store, dir: world.cwd })).map((session) => session.sessionId),
      [sessionId],
    );
  });

  it("a session is resumed from it on a machine that has never seen it", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const store = new InMemorySessionStore();
    const { session_id: sessionId } = only(await world.ask("Remember 42", { sessionStore: store }));
    for (const name of readdirSync(world.home)) rmSync(join(world.home, name), { recursive: true });
    const second = only(await world.ask("What was it?", { sessionStore: store, resume: sessionId }));
    assert.equal(second.session_id, sessionId);
    assert.match(JSON.stringify(sent(world.server, 1).messages), /Remember 42.*one.*What was it\?/);
    const third = only(await world.ask("And again?", { sessionStore: store, continue: true }));
    assert.equal(third.session_id, sessionId);
    assert.match(JSON.stringify(sent(world.server, 2).messages), /Remember 42.*one.*What was it\?.*two.*And again\?/);
    const messages = await getSessionMessages(sessionId, { sessionStore: store, dir: world.cwd });
    assert.equal(messages.length, 6);
    assert.equal(new Set(messages.map(({ uuid }) => uuid)).size, 6);
  });

  it("importSessionToStore takes a session that was held without one", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const { session_id: sessionId } = only(await world.ask("Remember 42"));
    const store = new InMemorySessionStore();
    const messages = await call<SessionMessage[]>(world, "getSessionMessages", [sessionId, {}]);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(projectRoot, "test/agent-sdk/import-to-store.mjs"), sessionId, world.cwd],
      { env: world.env },
    );
    for (const { key, entries } of JSON.parse(stdout) as Stored[]) await store.append(key, entries); // as the script writes it
    assert.equal((await getSessionMessages(sessionId, { sessionStore: store, dir: world.cwd })).length, messages.length);
    for (const name of readdirSync(world.home)) rmSync(join(world.home, name), { recursive: true });
    await world.ask("What was it?", { sessionStore: store, resume: sessionId });
    assert.match(JSON.stringify(sent(world.server, 1).messages), /Remember 42.*one.*What was it\?/);
  });

  it("what went on elsewhere is known here as well", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const store = new InMemorySessionStore();
    const { session_id: sessionId } = only(await world.ask("Here", { sessionStore: store }));
    const other = { OUTRIDER_HOME: join(world.home, "other/.outrider"), CLAUDE_CONFIG_DIR: join(world.home, "other/.claude") };
    await world.ask("There", { sessionStore: store, resume: sessionId, env: other });
    await world.ask("Here again", { sessionStore: store, resume: sessionId });
    assert.match(JSON.stringify(sent(world.server, 2).messages), /Here.*one.*There.*two.*Here again/);
  });
});

type Stored = { key: Parameters<InMemorySessionStore["append"]>[0]; entries: Parameters<InMemorySessionStore["append"]>[1] };

/** A function of the SDK, as a program calls it that looks at sessions of the stage. */
async function call<T>({ env }: Stage, name: string, args: unknown[]): Promise<T> {
  const script = join(projectRoot, "test/agent-sdk/call-sdk.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [script, name, JSON.stringify(args)], { env });
  return (JSON.parse(stdout) as { answer: T }).answer; // as the script writes it
}

async function outrider({ env, cwd }: Stage, args: string[]): Promise<string> {
  const command = join(projectRoot, "packages/cli/bin/outrider.js");
  return (await promisify(execFile)(process.execPath, [command, ...args], { env, cwd })).stdout;
}
