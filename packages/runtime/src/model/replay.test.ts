import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type AssistantMessage, userText } from "../protocol/content.ts";
import type { RuntimeError } from "../protocol/errors.ts";
import { InteractiveSession } from "../session/interactive-session.ts";
import type { ModelEvent, ModelRequest, Provider } from "./model.ts";
import { type Cassette, createReplayProvider, parseCassette, type RecordedCall, toCassette, withRecorder } from "./replay.ts";
import { createScriptedProvider, type ScriptStep } from "./scripted.ts";

const places = { "{{cwd}}": "/work" };
const { signal } = new AbortController();
const asked: ModelRequest = { model: "scripted", system: "s", tools: [], messages: [userText("look in /work")] };

async function ask(
  provider: Provider,
  request: ModelRequest = asked,
): Promise<{ events: ModelEvent[]; message: AssistantMessage }> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(request, { signal })) events.push(event);
  const last = events.at(-1);
  if (last?.type !== "finished") throw new Error("no end");
  return { events, message: last.message };
}

/** Asks once per reply, each request going on from the answer before, and keeps what a file would hold. */
async function record(
  replies: readonly ScriptStep[],
): Promise<{ cassette: Cassette; requests: ModelRequest[]; answers: AssistantMessage[] }> {
  const calls: RecordedCall[] = [];
  const provider = createScriptedProvider(replies, { contextWindow: 1234 });
  const recording = withRecorder(provider, { places, add: async (call) => void calls.push(call) });
  const requests: ModelRequest[] = [];
  const answers: AssistantMessage[] = [];
  let request = asked;
  for (const _ of replies) {
    requests.push(request);
    const { message } = await ask(recording, request);
    answers.push(message);
    request = { ...request, messages: [...request.messages, message, userText("go on")] };
  }
  return { cassette: parseCassette(JSON.parse(JSON.stringify(toCassette(recording, calls)))), requests, answers };
}

describe("a recording", () => {
  it("answers as the model did, in order, with everything an answer holds", async () => {
    const { cassette, requests, answers } = await record([
      {
        reasoning: "Hm.",
        text: "In /work.",
        calls: [
          { name: "Read", input: { file_path: "/work/a" } },
          { name: "Read", malformedInput: '{"fi' },
        ],
        usage: { inputTokens: 7 },
      },
      { text: "Done.", finish: "length" },
    ]);
    const replay = createReplayProvider(cassette, { places });
    assert.deepEqual([replay.name, replay.model, replay.contextWindow, replay.remaining], ["scripted", "scripted", 1234, 2]);
    for (const [index, request] of requests.entries()) assert.deepEqual((await ask(replay, request)).message, answers[index]);
    assert.equal(replay.remaining, 0);
  });

  it("streams what it answers", async () => {
    const { cassette } = await record([
      { reasoning: "Hm.", text: "Yes.", calls: [{ name: "Read", input: { a: 1 }, callId: "c" }] },
    ]);
    const { events } = await ask(createReplayProvider(cassette, { places }));
    assert.deepEqual(events.slice(0, -1), [
      { type: "reasoning.delta", text: "Hm." },
      { type: "text.delta", text: "Yes." },
      { type: "tool-input.delta", callId: "c", name: "Read", json: '{"a":1}' },
    ]);
  });

  it("keeps signatures and blocks nobody understands, and grows by what is new", async () => {
    const signed: AssistantMessage["content"] = [
      { type: "reasoning", text: "Hm.", providerMetadata: { "anthropic-messages": { signature: "c2ln" } } },
      { type: "opaque", dialect: "anthropic-messages", value: { type: "redacted_thinking", data: "x" } },
      { type: "text", text: "Yes." },
    ];
    const base = createScriptedProvider([{ text: "1" }, { text: "2" }]);
    const provider: Provider = {
      ...base,
      async *stream(request, options) {
        for await (const event of base.stream(request, options)) {
          yield event.type === "finished" ? { ...event, message: { ...event.message, content: signed } } : event;
        }
      },
    };
    const calls: RecordedCall[] = [];
    const recording = withRecorder(provider, { places, add: async (call) => void calls.push(call) });
    const { message } = await ask(recording);
    const second = { ...asked, messages: [...asked.messages, message, userText("more")] };
    await ask(recording, second);
    const cassette = toCassette(recording, calls);
    assert.deepEqual(cassette.calls[1]?.request, { goesOn: true, messages: [userText("more")] });
    const replay = createReplayProvider(cassette, { places });
    assert.deepEqual((await ask(replay)).message.content, signed);
    assert.deepEqual((await ask(replay, second)).message.content, signed);
  });

  it("takes the place of another folder, also where two places have become one", async () => {
    const { cassette } = await record([{ text: "It is in /work/a." }]);
    const elsewhere = createReplayProvider(cassette, { places: { "{{cwd}}": "/ci/build" } });
    const { message } = await ask(elsewhere, { ...asked, messages: [userText("look in /ci/build")] });
    assert.deepEqual(message.content, [{ type: "text", text: "It is in /ci/build/a." }]);
    const atHome = createReplayProvider(cassette, { places: { "{{home}}": "/root", "{{cwd}}": "/root" } });
    await ask(atHome, { ...asked, messages: [userText("look in /root")] });
  });

  it("does not mind another day, another platform or another state of the session", async () => {
    const system = (day: string, platform: string) =>
      `Be good.\n\n# Environment\nPlatform: ${platform}\nDate: ${day}\n\n# This session\nModel: ${platform}\n\nThe end.`;
    const calls: RecordedCall[] = [];
    const recording = withRecorder(createScriptedProvider([{ text: "ok" }]), {
      places,
      add: async (call) => void calls.push(call),
    });
    await ask(recording, { ...asked, system: system("2026-01-02", "darwin") });
    const replay = createReplayProvider(toCassette(recording, calls), { places });
    await ask(replay, { ...asked, system: system("2031-12-24", "linux") });
  });

  it("refuses a request that differs, and says where", async () => {
    const { cassette } = await record([{ text: "ok" }]);
    await assert.rejects(ask(createReplayProvider(cassette, { places }), { ...asked, system: "t" }), (error: RuntimeError) => {
      assert.equal(error.code, "replay-mismatch");
      assert.equal(error.message, "Request 1 differs from the recorded one (- recorded, + now):\n  system\n    - s\n    + t");
      return true;
    });
  });

  it("does not compare what belongs to somebody's provider settings", async () => {
    const { cassette } = await record([{ text: "ok" }]);
    await ask(createReplayProvider(cassette, { places }), { ...asked, options: { user: "me" } });
    await assert.rejects(ask(createReplayProvider(cassette, { places }), { ...asked, effort: "high" }), /settings\.effort/);
  });

  it("goes on when lenient, and tells each difference once", async () => {
    const { cassette, requests } = await record([{ text: "1" }, { text: "2" }]);
    const told: string[] = [];
    const replay = createReplayProvider(cassette, { places, lenient: true, onDifference: (text) => told.push(text) });
    for (const request of requests) await ask(replay, { ...request, system: "t" });
    assert.equal(told.length, 1);
    await assert.rejects(ask(replay), /holds 2 answers, and the model was asked once more/);
  });

  it("tells no more than five differences", async () => {
    const { cassette } = await record([{ text: "ok" }]);
    const tools = Array.from({ length: 8 }, (_, index) => ({ name: `t${index}`, description: "", inputSchema: {} }));
    await assert.rejects(ask(createReplayProvider(cassette, { places }), { ...asked, tools }), /… and 3 more$/);
  });

  it("does not record what failed, and passes on what fails in recording", async () => {
    const calls: RecordedCall[] = [];
    const failing = createScriptedProvider([
      { text: "half", fail: { code: "provider-overloaded", message: "busy" } },
      { text: "ok" },
    ]);
    const recording = withRecorder(failing, {
      places,
      add: async (call) => {
        calls.push(call);
        throw new Error("disk full");
      },
    });
    await assert.rejects(ask(recording), /busy/);
    assert.equal(calls.length, 0);
    await assert.rejects(ask(recording), /disk full/);
  });
});

describe("a session", () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-replay-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("is recorded in one folder and replayed in another through the library alone", async () => {
    const folders = ["a", "b"].map((name) => mkdtempSync(join(folder, name)));
    for (const [index, cwd] of folders.entries()) writeFileSync(join(cwd, "n.txt"), "seven\n", { mode: 0o600 + index });
    const [here = "", there = ""] = folders;
    const calls: RecordedCall[] = [];
    const script = createScriptedProvider([
      { calls: [{ name: "Read", input: { file_path: join(here, "n.txt") } }] },
      { text: `seven, says ${here}` },
    ]);
    const outcome = async (cwd: string, provider: Provider) => {
      const session = new InteractiveSession({ cwd, provider });
      const result = await session.submit("which number?");
      await session.shutdown();
      return result;
    };
    const recorder = { places: { "{{cwd}}": here }, add: async (call: RecordedCall) => void calls.push(call) };
    await outcome(here, withRecorder(script, recorder));
    const replay = createReplayProvider(toCassette(script, calls), { places: { "{{cwd}}": there } });
    assert.deepEqual(await outcome(there, replay), { type: "completed", text: `seven, says ${there}` });
    assert.equal(replay.remaining, 0);
    writeFileSync(join(there, "n.txt"), "eight\n");
    const changed = await outcome(there, createReplayProvider(toCassette(script, calls), { places: { "{{cwd}}": there } }));
    assert.match(changed.type === "failed" ? changed.error.message : "", /result of Read\)\n {4}- .*seven\n {4}\+ .*eight/);
  });
});
