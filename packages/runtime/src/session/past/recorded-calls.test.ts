import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { toMessages } from "../../journal/transcript.ts";
import type { Provider } from "../../model/model.ts";
import { createReplayProvider, type RecordedCall, toCassette, withRecorder } from "../../model/replay.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { userText } from "../../protocol/content.ts";
import { InteractiveSession } from "../interactive-session.ts";
import { toRecording } from "./recorded-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-recorded-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "n.txt"), "seven\n");
const placesOf = (cwd: string) => ({ "{{cwd}}": cwd });

describe("a journal", () => {
  it("holds the same calls as a recording of the run, but for the settings it does not know", async () => {
    const sessionStore = createMemoryStore();
    const calls: RecordedCall[] = [];
    const provider = createScriptedProvider([
      { calls: [{ name: "Read", input: { file_path: "n.txt" } }, { name: "Nothing" }] },
      { text: "" }, // is asked again
      { text: "It is seven." },
      { text: "Still." },
    ]);
    const recording = withRecorder(provider, { places: placesOf(folder), add: async (call) => void calls.push(call) });
    const session = new InteractiveSession({ cwd: folder, provider: recording, sessionStore, temperature: 1 });
    await session.submit("which number?");
    await session.submit("and now?");
    await session.shutdown();
    const fromJournal = toRecording(await sessionStore.read(session.id), placesOf);
    const expected = calls.map(({ request: { settings: _, ...request }, answer }) => ({ request, answer }));
    assert.deepEqual(fromJournal, toCassette(provider, expected));
    assert.equal(fromJournal.calls.length, 4);
  });

  it("holds the calls for summaries too, and can be played again", async () => {
    const run = async (provider: Provider, sessionStore = createMemoryStore()) => {
      const session = new InteractiveSession({ cwd: folder, provider, sessionStore });
      for (const prompt of ["one", `two ${"word ".repeat(40_000)}`, "three", "four"]) await session.submit(prompt);
      await session.shutdown();
      return await sessionStore.read(session.id);
    };
    const calls: RecordedCall[] = [];
    const usage = { inputTokens: 17_000 };
    const scripted = createScriptedProvider(
      [
        { text: "One." },
        { text: "Two.", usage },
        ...[1, 2, 3, 4, 5].map((part) => ({ text: `<summary>part ${part}` })),
        { text: "More." },
        { text: "More." },
      ],
      { contextWindow: 20_000 },
    );
    const events = await run(withRecorder(scripted, { places: placesOf(folder), add: async (call) => void calls.push(call) }));
    const cassette = toRecording(events, placesOf);
    const expected = calls.map(({ request: { settings: _, ...request }, answer }) => ({ request, answer }));
    assert.deepEqual(cassette, toCassette(scripted, expected));
    assert.equal(events.filter((event) => event.type === "side-call.ended").length > 2, true);
    const replay = createReplayProvider(cassette, { places: placesOf(folder) });
    const replayed = await run(replay);
    assert.equal(replay.remaining, 0);
    assert.equal(JSON.stringify(toMessages(replayed)), JSON.stringify(toMessages(events)));
  });

  it("follows a session that was resumed with another prompt and another model", async () => {
    const sessionStore = createMemoryStore();
    const first = new InteractiveSession({ cwd: folder, provider: createScriptedProvider([{ text: "One." }]), sessionStore });
    await first.submit("go");
    await first.shutdown();
    const calls: RecordedCall[] = [];
    const provider = createScriptedProvider([{ text: "Two." }], { model: "other" });
    const recording = withRecorder(provider, { places: placesOf(folder), add: async (call) => void calls.push(call) });
    const options = { cwd: folder, provider: recording, sessionStore, resumeSessionId: first.id, systemPrompt: "Be brief." };
    const second = new InteractiveSession(options);
    await second.submit("go on");
    await second.shutdown();
    const { request } = toRecording(await sessionStore.read(first.id), placesOf).calls[1] ?? {};
    assert.deepEqual(request, { goesOn: true, model: "other", system: "Be brief.", messages: [userText("go on")] });
    assert.deepEqual([calls[0]?.request.model, calls[0]?.request.system], ["other", "Be brief."]);
  });

  it("asks for the session's model also where a fallback answered", async () => {
    const sessionStore = createMemoryStore();
    const busy = createScriptedProvider([{ fail: { code: "provider-overloaded", message: "busy" } }], { model: "first" });
    const fallback = { model: "second", provider: createScriptedProvider([{ text: "From the second." }], { model: "second" }) };
    const session = new InteractiveSession({ cwd: folder, provider: busy, fallback, sessionStore });
    await session.submit("go");
    await session.shutdown();
    const recording = toRecording(await sessionStore.read(session.id), placesOf);
    assert.deepEqual([recording.calls[0]?.request.model, recording.calls[0]?.answer.model.id], ["first", "second"]);
  });

  it("is replayed although its turn was cut off", async () => {
    const sessionStore = createMemoryStore();
    const provider = createScriptedProvider([{ text: "One." }, { text: "Half an ans", hang: true }]);
    const session = new InteractiveSession({ cwd: folder, provider, sessionStore });
    await session.submit("go");
    session.on("text_delta", () => session.abort());
    await session.submit("and on");
    await session.shutdown();
    const recording = toRecording(await sessionStore.read(session.id), placesOf);
    assert.equal(recording.calls.length, 1);
    const replayed = new InteractiveSession({
      cwd: folder,
      provider: createReplayProvider(recording, { places: placesOf(folder) }),
    });
    assert.deepEqual(await replayed.submit("go"), { type: "completed", text: "One." });
    await replayed.shutdown();
  });

  it("without a beginning is refused", () => {
    assert.throws(() => toRecording([], placesOf), { code: "config" });
  });
});
