import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import fc from "fast-check";
import { createFileStore } from "../../journal/file-store.ts";
import type { SessionStore } from "../../journal/store.ts";
import { toMessages } from "../../journal/transcript.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { type JsonObject, noUsage } from "../../protocol/content.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { readConversation } from "./conversation.ts";
import { findSessionFile, importSession } from "./import-session.ts";
import { toImportedEvents } from "./imported-events.ts";
import { openSessionFile, sessionFilePath } from "./session-file.ts";

const sessionId = "12345678-1234-4234-8234-123456789abc";
let folder = "";
let store: SessionStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-import-"));
  store = createFileStore(join(folder, "sessions"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A file as Claude Code writes it: every line names the one before it, unless it says otherwise. */
function write(lines: readonly JsonObject[], id = sessionId): string {
  const path = sessionFilePath({ configDirectory: folder, cwd: "/home/ada/project", sessionId: id });
  mkdirSync(dirname(path), { recursive: true });
  let last: string | null = null;
  const linked = lines.map((line) => {
    const whole = { parentUuid: last, isSidechain: false, sessionId: id, timestamp: "2026-01-01T00:00:00.000Z", ...line };
    if (typeof line["uuid"] === "string") last = line["uuid"];
    return whole;
  });
  writeFileSync(path, linked.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

function said(uuid: string, content: JsonObject["content"], more: JsonObject = {}): JsonObject {
  return { type: "user", uuid, message: { role: "user", content: content ?? "" }, ...more };
}

function answered(uuid: string, id: string, block: JsonObject, more: JsonObject = {}): JsonObject {
  const message = { id, role: "assistant", model: "claude-sonnet-4-5", content: [block] };
  return { type: "assistant", uuid, message, ...more };
}

const text = (words: string): JsonObject => ({ type: "text", text: words });
const call = (id: string): JsonObject => ({ type: "tool_use", id, name: "Read", input: { file_path: id } });
const result = (id: string, content: string): JsonObject => ({ type: "tool_result", tool_use_id: id, content });

/** A session of ours, with its copy. */
async function hold(replies: readonly ScriptStep[], prompts: readonly string[], resume = false): Promise<string> {
  const ids = resume ? { resumeSessionId: sessionId } : { sessionId };
  const session = new InteractiveSession({ cwd: folder, provider: createScriptedProvider(replies), sessionStore: store, ...ids });
  for (const prompt of prompts) await session.submit(prompt);
  await session.shutdown();
  const path = sessionFilePath({ configDirectory: folder, cwd: folder, sessionId });
  openSessionFile({ path, sessionId, entrypoint: "sdk-ts", history: await store.read(sessionId), warn: assert.fail });
  return path;
}

describe("taking over a session that was held elsewhere", () => {
  it("gives the model the conversation that the file tells, with thoughts that can be sent back", async () => {
    const path = write([
      said("u1", "Look at both"),
      answered("a1", "msg_1", { type: "thinking", thinking: "hm", signature: "seal" }),
      answered("a2", "msg_1", text("Looking")),
      answered("a3", "msg_1", call("toolu_1")),
      answered("a4", "msg_1", call("toolu_2")),
      said("r1", [result("toolu_1", "one")], { parentUuid: "a3" }),
      said("r2", [result("toolu_2", "two")], { parentUuid: "a4" }),
      answered("a5", "msg_2", text("Both are fine")),
    ]);
    assert.deepEqual(await importSession(store, { path, sessionId }), { added: 8 });
    const model = { provider: "anthropic", id: "claude-sonnet-4-5" };
    const answer = { role: "assistant", model, usage: { ...noUsage } };
    const toolResult = { type: "tool-result", name: "Read", isError: false };
    assert.deepEqual(toMessages(await store.read(sessionId)), [
      { role: "user", content: [text("Look at both")] },
      {
        ...answer,
        finish: "tool-calls",
        content: [
          { type: "reasoning", text: "hm", providerMetadata: { "anthropic-messages": { signature: "seal" } } },
          text("Looking"),
          { type: "tool-call", callId: "toolu_1", name: "Read", input: { file_path: "toolu_1" } },
          { type: "tool-call", callId: "toolu_2", name: "Read", input: { file_path: "toolu_2" } },
        ],
      },
      {
        role: "tool",
        content: [
          { ...toolResult, callId: "toolu_1", content: [text("one")] },
          { ...toolResult, callId: "toolu_2", content: [text("two")] },
        ],
      },
      { ...answer, finish: "stop", content: [text("Both are fine")] },
    ]);
  });

  it("follows the branch of the last line, and leaves out subagents, failed calls and what a compaction took away", async () => {
    const path = write([
      said("u0", "long ago"),
      { type: "system", subtype: "compact_boundary", uuid: "s1", parentUuid: null, logicalParentUuid: "u0" },
      said("u1", "This is a summary", { isCompactSummary: true }),
      answered("a1", "msg_1", text("first try")),
      said("x1", "inside", { isSidechain: true }),
      said("u2", "second try", { parentUuid: "u1" }),
      answered("e1", "msg_e", text("API Error"), { isApiErrorMessage: true }),
      answered("a2", "msg_2", text("better")),
      { type: "summary", summary: "of something", leafUuid: "a2" },
    ]);
    await importSession(store, { path, sessionId });
    const told = toMessages(await store.read(sessionId)).map(({ content }) => content);
    assert.deepEqual(told, [[text("This is a summary")], [text("second try")], [text("better")]]);
  });

  it("stores no secret that stands in the file", async () => {
    const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    const path = write([said("u1", `use ${key}`), answered("a1", "m1", text(`I use ${key}`))]);
    await importSession(store, { path, sessionId });
    assert.doesNotMatch(readFileSync(join(folder, "sessions", `${sessionId}.jsonl`), "utf8"), /ghp_/);
  });

  it("leaves a call without a result open, so that the model is told it was cut off", async () => {
    const path = write([said("u1", "Look"), answered("a1", "msg_1", call("toolu_1"))]);
    await importSession(store, { path, sessionId });
    const last = toMessages(await store.read(sessionId)).at(-1);
    assert.ok(last?.role === "tool" && last.content[0]?.isError);
  });

  it("a session that is gone on with adds to the same file, each line once and under its old name", async () => {
    const path = write([
      said("u1", "first"),
      answered("a1", "msg_1", text("one")),
      said("u2", "second"),
      answered("a2", "msg_2", text("two")),
    ]);
    const before = readFileSync(path, "utf8");
    await importSession(store, { path, sessionId });
    const options = { cwd: folder, provider: createScriptedProvider([{ text: "three" }]), sessionStore: store };
    const session = new InteractiveSession({ ...options, resumeSessionId: sessionId });
    await session.submit("third");
    await session.shutdown();
    openSessionFile({ path, sessionId, entrypoint: "sdk-ts", history: await store.read(sessionId), warn: assert.fail });
    const after = readFileSync(path, "utf8");
    assert.ok(after.startsWith(before));
    const added = after
      .slice(before.length)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    assert.deepEqual(
      added.map(({ type, parentUuid }) => [type, parentUuid]),
      [
        ["user", "a2"],
        ["assistant", added[0]?.["uuid"]],
      ],
    );
    assert.deepEqual(await importSession(store, { path, sessionId }), { added: 0 });
  });
});

describe("one of our sessions that somebody else wrote to", () => {
  it("goes on from where they left it", async () => {
    const path = await hold([{ text: "one" }], ["first"]);
    const lines = readFileSync(path, "utf8").trim().split("\n");
    const last = (JSON.parse(lines.at(-1) ?? "") as JsonObject)["uuid"] ?? null;
    const more = [
      { ...said("u2", "there"), parentUuid: last, isSidechain: false },
      { ...answered("a2", "msg_2", text("from there")), parentUuid: "u2", isSidechain: false },
    ];
    writeFileSync(path, [...lines, ...more.map((line) => JSON.stringify(line)), ""].join("\n"));
    assert.equal((await importSession(store, { path, sessionId })).added, 3);
    const told = toMessages(await store.read(sessionId)).map(({ content }) => content);
    assert.deepEqual(told, [[text("first")], [text("one")], [text("there")], [text("from there")]]);
  });

  it("a course that leaves ours before its end is told of, and ours stays", async () => {
    const path = await hold([{ text: "one" }, { text: "two" }], ["first", "second"]);
    const lines = readFileSync(path, "utf8").trim().split("\n");
    const early = (JSON.parse(lines[1] ?? "") as JsonObject)["uuid"] ?? null;
    const branch = { ...said("u9", "elsewhere"), parentUuid: early, isSidechain: false };
    writeFileSync(path, [...lines, JSON.stringify(branch), ""].join("\n"));
    const taken = await importSession(store, { path, sessionId });
    assert.equal(taken.added, 0);
    assert.match(taken.problem ?? "", /another course/);
  });

  it("one that has gone on here is not set back, and a new title is told of", async () => {
    const path = await hold([{ text: "one" }], ["first"]);
    await hold([{ text: "two" }], ["second"], true);
    const title = { type: "custom-title", customTitle: "Called there", sessionId };
    writeFileSync(path, `${readFileSync(path, "utf8")}${JSON.stringify(title)}\n`);
    assert.deepEqual(await importSession(store, { path, sessionId }), { added: 0, title: "Called there" });
    await store.rename(sessionId, "Called there");
    await store.rename(sessionId, "Called here");
    assert.deepEqual(await importSession(store, { path, sessionId }), { added: 0 });
  });
});

describe("files that nobody wrote", () => {
  it("are read as far as they make sense, and never an error", () => {
    const line = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc
        .record({ type: fc.constantFrom("user", "assistant", "attachment"), uuid: fc.string(), message: fc.jsonValue() })
        .map((value) => JSON.stringify(value)),
      fc
        .record({
          type: fc.constant("assistant"),
          uuid: fc.constantFrom("a", "b"),
          parentUuid: fc.constantFrom("a", "b", null),
          message: fc.record({ content: fc.jsonValue() }),
        })
        .map((value) => JSON.stringify(value)),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { steps } = readConversation(lines.join("\n"));
        const events = toImportedEvents(steps, { sessionId, after: 0, now: "2026-01-01T00:00:00.000Z" });
        assert.ok(Array.isArray(toMessages(events)));
      }),
    );
  });
});

describe("finding the file of a session", () => {
  it("by its id, by its last title, and never outside the folder", () => {
    const path = write([said("u1", "hi"), { type: "custom-title", customTitle: "Old", sessionId }]);
    writeFileSync(path, `${readFileSync(path, "utf8")}${JSON.stringify({ type: "custom-title", customTitle: "New" })}\n`);
    writeFileSync(join(folder, "other.jsonl"), "{}\n");
    assert.deepEqual(findSessionFile(folder, sessionId), { path, sessionId });
    assert.deepEqual(findSessionFile(folder, "New"), { path, sessionId });
    for (const word of ["Old", "../other", "../../other", "", "unknown"]) assert.equal(findSessionFile(folder, word), undefined);
    assert.equal(findSessionFile(join(folder, "not there"), sessionId), undefined);
  });
});
