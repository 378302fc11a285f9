import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import type { SessionStore } from "../../journal/store.ts";
import { toMessages } from "../../journal/transcript.ts";
import { type RecordedCall, toCassette, withRecorder } from "../../model/replay.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { type Message, textOf } from "../../protocol/content.ts";
import { InteractiveSession } from "../interactive-session.ts";
import { toRecording } from "../past/recorded-calls.ts";
import type { SessionOptions } from "../session-options.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-rewound-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const placesOf = (cwd: string) => ({ "{{cwd}}": cwd });

function words(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) => `${role}: ${role === "tool" ? "" : textOf(content.filter(isText))}`);
}

function isText<Part extends { type: string }>(part: Part): part is Part & { type: "text"; text: string } {
  return part.type === "text";
}

/** A session that is opened once per prompt, and what its model was asked. */
function scripted(sessionStore: SessionStore) {
  const calls: RecordedCall[] = [];
  const provider = createScriptedProvider(["one", "two", "three", "four"].map((text) => ({ text })));
  const recording = withRecorder(provider, { places: placesOf(folder), add: async (call) => void calls.push(call) });
  const ask = async (prompt: string, options: Partial<SessionOptions> = {}): Promise<InteractiveSession> => {
    const session = new InteractiveSession({ cwd: folder, provider: recording, sessionStore, ...options });
    await session.submit(prompt);
    await session.shutdown();
    return session;
  };
  return { ask, calls, provider };
}

async function seqOfEnd(store: SessionStore, id: string): Promise<number> {
  return (await store.read(id)).find(({ type }) => type === "turn.ended")?.seq ?? 0;
}

describe("a session that goes back", () => {
  it("keeps its id and every byte of its journal, and the model sees nothing of what came later", async () => {
    const store = createFileStore(join(folder, "sessions"));
    const { ask } = scripted(store);
    const { id } = await ask("first");
    await ask("second", { resumeSessionId: id });
    const path = join(folder, "sessions", `${id}.jsonl`);
    const before = readFileSync(path);
    const resumeAt = await seqOfEnd(store, id);
    const session = await ask("other", { resumeSessionId: id, resumeAt });
    const expected = ["user: first", "assistant: one", "user: other", "assistant: three"];
    assert.deepEqual([session.id, words(session.getMessages())], [id, expected]);
    assert.ok(readFileSync(path).subarray(0, before.length).equals(before));
    assert.deepEqual(
      session
        .getFullHistory()
        .filter(({ category }) => category === "chat")
        .map(({ type }) => type),
      ["user", "assistant", "user", "assistant"],
    );
    const resumed = await ask("more", { resumeSessionId: id });
    assert.deepEqual(words(resumed.getMessages()).slice(0, 4), expected, "it stays so");
    assert.deepEqual(words(toMessages(await store.read(id))).slice(0, 4), expected);
  });

  it("can be played again from its journal", async () => {
    const store = createMemoryStore();
    const { ask, calls, provider } = scripted(store);
    const { id } = await ask("first");
    await ask("second", { resumeSessionId: id });
    await ask("other", { resumeSessionId: id, resumeAt: await seqOfEnd(store, id) });
    const expected = calls.map(({ request: { settings: _, ...request }, answer }) => ({ request, answer }));
    assert.deepEqual(toRecording(await store.read(id), placesOf), toCassette(provider, expected));
  });

  it("refuses an event that is not there, and a new session, without a trace", async () => {
    const store = createMemoryStore();
    const { ask } = scripted(store);
    const { id } = await ask("first");
    const before = await store.read(id);
    const failure = async (options: Partial<SessionOptions>): Promise<unknown> => {
      const provider = createScriptedProvider([{ text: "never" }]);
      const outcome = await new InteractiveSession({ cwd: folder, provider, sessionStore: store, ...options }).submit("x");
      return outcome.type === "failed" && outcome.error.code;
    };
    assert.deepEqual(
      [
        await failure({ resumeSessionId: id, resumeAt: 0 }),
        await failure({ resumeSessionId: id, resumeAt: 1e6 }),
        await failure({ resumeAt: 1 }),
      ],
      ["not-found", "not-found", "usage"],
    );
    assert.deepEqual(await store.read(id), before);
  });

  it("gives no turn the name of one that was left behind", async () => {
    const store = createMemoryStore();
    const { ask } = scripted(store);
    const { id } = await ask("first");
    await ask("second", { resumeSessionId: id });
    const at = await seqOfEnd(store, id);
    const left = (await store.read(id)).findLast(({ type }) => type === "turn.started")?.turnId ?? "";
    const provider = createScriptedProvider([{ text: "again" }]);
    const session = new InteractiveSession({ cwd: folder, provider, sessionStore: store, resumeSessionId: id, resumeAt: at });
    await session.submit("edited", { id: left });
    await session.shutdown();
    const started = (await store.read(id)).filter(({ type }) => type === "turn.started").map(({ turnId }) => turnId);
    assert.equal(new Set(started).size, 3);
  });
});
