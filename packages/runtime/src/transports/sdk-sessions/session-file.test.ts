import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { createFileStore } from "../../journal/file-store.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { openSessionFile, type SessionFileOptions, sessionFilePath } from "./session-file.ts";

const sessionId = "12345678-1234-4234-8234-123456789abc";
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-sdk-sessions-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What a session with these answers tells. */
async function eventsOf(replies: readonly ScriptStep[], prompts: readonly string[]): Promise<AgentEvent[]> {
  const store = createFileStore(join(folder, "sessions"));
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({ cwd: folder, provider, sessionId, sessionStore: store, permissionMode: "default" });
  for (const prompt of prompts) await session.submit(prompt);
  await session.shutdown();
  return await store.read(sessionId);
}

function pathIn(name: string): string {
  return sessionFilePath({ configDirectory: join(folder, name), cwd: "/home/ada/my.project", sessionId });
}

function options(more: Partial<SessionFileOptions> = {}): SessionFileOptions {
  return {
    path: pathIn("claude"),
    sessionId,
    entrypoint: "sdk-ts",
    history: [],
    warn() {},
    ...more,
  };
}

function read(path: string): JsonObject[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject);
}

describe("a copy of a session for other programs", () => {
  it("is where they look for it, and nobody else may read it", async () => {
    const file = openSessionFile(options({ history: await eventsOf([{ text: "hi" }], ["hello"]) }));
    assert.equal(file.path, join(folder, "claude/projects/-home-ada-my-project", `${sessionId}.jsonl`));
    assert.equal(statSync(file.path).mode & 0o777, 0o600);
  });

  it("is a chain from the first prompt to the last answer", async () => {
    const call = { text: "Looking", calls: [{ name: "Read", input: { file_path: "nothing.txt" } }] };
    const { path } = openSessionFile(
      options({ history: await eventsOf([call, { text: "Nothing there" }, { text: "Bye" }], ["look", "bye"]) }),
    );
    const lines = read(path);
    assert.deepEqual(
      lines.map(({ type }) => type),
      ["user", "assistant", "assistant", "user", "assistant", "user", "assistant"],
    );
    assert.deepEqual(
      lines.map(({ parentUuid }) => parentUuid),
      [null, ...lines.slice(0, -1).map(({ uuid }) => uuid)],
    );
    assert.equal(new Set(lines.map(({ uuid }) => uuid)).size, lines.length);
    assert.ok(
      lines.every((line) => line["sessionId"] === sessionId && line["isSidechain"] === false && line["timestamp"] !== undefined),
    );
  });

  it("is only added to: a second opening writes what is new, and nothing twice", async () => {
    const history = await eventsOf([{ text: "one" }, { text: "two" }], ["first", "second"]);
    const middle = history.findIndex(({ type }) => type === "turn.ended");
    const { path } = openSessionFile(options({ history: history.slice(0, middle + 1) }));
    const before = readFileSync(path, "utf8");
    appendFileSync(path, `${JSON.stringify({ type: "custom-title", customTitle: "renamed by somebody", sessionId })}\n`);
    openSessionFile(options({ history }));
    openSessionFile(options({ history }));
    const after = readFileSync(path, "utf8");
    assert.ok(after.startsWith(before));
    assert.deepEqual(
      read(path).map(({ type }) => type),
      ["user", "assistant", "custom-title", "user", "assistant"],
    );
  });

  it("adds events as they come, in the same words as from the journal", async () => {
    const events = await eventsOf([{ text: "one" }], ["first"]);
    const live = openSessionFile(options({ path: pathIn("live") }));
    for (const event of events) live.add(event);
    const later = openSessionFile(options({ history: events }));
    assert.equal(readFileSync(live.path, "utf8"), readFileSync(later.path, "utf8"));
  });

  it("closes a line that was cut off", async () => {
    const path = pathIn("claude");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{"type":"user","uu');
    openSessionFile(options({ history: await eventsOf([{ text: "one" }], ["first"]) }));
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    assert.equal(lines[0], '{"type":"user","uu');
    assert.equal(
      lines
        .slice(1)
        .map((line) => (JSON.parse(line) as JsonObject)["type"])
        .join(),
      "user,assistant",
    );
  });

  it("warns once when it cannot be written, and throws nothing", async () => {
    const events = await eventsOf([{ text: "one" }], ["first"]);
    writeFileSync(join(folder, "claude"), "a file where a folder should be");
    const warnings: string[] = [];
    const file = openSessionFile(options({ history: events, warn: (message) => warnings.push(message) }));
    for (const event of events) file.add(event);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? "", /is not written/);
  });

  it("cuts long names of folders, and tells them apart", () => {
    const long = `/${"a".repeat(300)}`;
    const [one, two] = [`${long}/one`, `${long}/two`].map((cwd) => sessionFilePath({ configDirectory: folder, cwd, sessionId }));
    assert.notEqual(one, two);
    assert.match(one ?? "", /\/-a{199}-[0-9a-z]+\/12345678/);
  });

  it("names the session as it is named", async () => {
    const named = { type: "session.named", name: "My work", seq: 9, at: "2026-01-01T00:00:00.000Z", sessionId } as const;
    const { path } = openSessionFile(options({ history: [named, named] }));
    assert.deepEqual(read(path).at(0), { type: "custom-title", customTitle: "My work", sessionId });
  });

  it("says title and tag again once they lie far behind", async () => {
    const events = await eventsOf([{ text: "a".repeat(40_000) }, { text: "b" }], ["first", "second"]);
    const path = pathIn("claude");
    mkdirSync(dirname(path), { recursive: true });
    const notes = [
      { type: "custom-title", customTitle: "Mine", sessionId },
      { type: "tag", tag: "kept", sessionId },
    ];
    writeFileSync(path, notes.map((note) => `${JSON.stringify(note)}\n`).join(""));
    openSessionFile(options({ history: events }));
    assert.deepEqual(
      read(path).map(({ type }) => type),
      ["custom-title", "tag", "user", "assistant", "custom-title", "tag", "user", "assistant"],
    );
  });

  it("tells of every line that it has written, and of none that was there", async () => {
    const events = await eventsOf([{ text: "one" }, { text: "two" }], ["first", "second"]);
    const half = events.findIndex((event) => event.type === "turn.ended") + 1;
    openSessionFile(options({ history: events.slice(0, half) }));
    const told: JsonObject[] = [];
    const { path } = openSessionFile(options({ history: events, onWritten: (_, lines) => told.push(...lines) }));
    assert.deepEqual(told, read(path).slice(2));
  });

  it("names the branch that is checked out", async () => {
    const events = await eventsOf([{ text: "one" }], ["first"]);
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".git/HEAD"), "ref: refs/heads/feature/one\n");
    const { path } = openSessionFile(options({ history: events }));
    assert.deepEqual(
      read(path).map(({ gitBranch }) => gitBranch),
      ["feature/one", "feature/one"],
    );
  });
});
