import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { createHeadlessRunner, createHeadlessTransport } from "./headless-runner.ts";
import type { OutputFormatName } from "./output-format.ts";

async function run(
  format: OutputFormatName,
  replies: readonly ScriptStep[],
  options: Partial<SessionOptions> & { prompt?: string } = {},
) {
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({ cwd: tmpdir(), provider, sessionId: "s1", ...options });
  const stdout = collect();
  const stderr = collect();
  const runner = createHeadlessRunner({ session, outputFormat: format, output: stdout.stream, errorOutput: stderr.stream });
  const code = await runner.run(options.prompt ?? "hello");
  await session.shutdown();
  return { code, out: stdout.text(), err: stderr.text(), asked: provider.requests.length };
}

function collect() {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

const boom: ScriptStep = { fail: { code: "provider-unavailable", message: "boom" } };

describe("the headless runner", () => {
  it("writes the answer and a newline as text", async () => {
    assert.deepEqual(await run("text", [{ text: "hi" }]), { code: 0, out: "hi\n", err: "", asked: 1 });
  });

  it("refuses a format that there is not, and fails where nothing can be written", async () => {
    const session = new InteractiveSession({ cwd: tmpdir(), provider: createScriptedProvider([{ text: "one" }]) });
    const outputFormat: OutputFormatName = JSON.parse('"xml"');
    assert.throws(() => createHeadlessRunner({ session, outputFormat }), {
      code: "usage",
      message: /^outputFormat must be one of text/,
    });
    const [output, stderr] = [new PassThrough().destroy(), collect()];
    assert.equal(await createHeadlessRunner({ session, output, errorOutput: stderr.stream }).run("go"), 1);
    assert.match(stderr.text(), /^The output cannot be written: /);
    await session.shutdown();
  });

  it("writes a failure of the text format to stderr only", async () => {
    assert.deepEqual(await run("text", [boom]), { code: 1, out: "", err: "boom\n", asked: 1 });
  });

  it("writes one result object as json, also when it failed", async () => {
    const good = await run("json", [{ text: "hi" }]);
    assert.equal(good.out, '{"type":"result","result":"hi","session_id":"s1","subtype":"success"}\n');
    const bad = await run("json", [boom]);
    assert.deepEqual(JSON.parse(bad.out), {
      type: "result",
      result: "",
      session_id: "s1",
      subtype: "error",
      error_code: "api_error",
      error: { code: "provider-unavailable", message: "boom", retryable: false },
    });
    assert.deepEqual([bad.out.split("\n").length, bad.code, bad.err], [2, 1, ""]);
  });

  it("writes each delta as a stream event of its own, then the result", async () => {
    const { out, code } = await run("stream-json", [{ text: "one two three" }]);
    const frames = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const deltas = frames.slice(0, -1);
    assert.equal(code, 0);
    assert.equal(deltas.map((frame) => frame.event.delta.text).join(""), "one two three");
    assert.equal(new Set(deltas.map((frame) => frame.uuid)).size, deltas.length);
    assert.ok(
      deltas.length > 1 &&
        deltas.every(
          (frame) => frame.type === "stream_event" && frame.event.type === "content_block_delta" && frame.session_id === "s1",
        ),
    );
    assert.deepEqual(frames.at(-1), { type: "result", result: "one two three", session_id: "s1", subtype: "success" });
  });

  it("counts an interruption as success with what had been said", async () => {
    const provider = createScriptedProvider([{ text: "partial answer", hang: true }]);
    const session = new InteractiveSession({ cwd: tmpdir(), provider });
    const stdout = collect();
    session.on("text_delta", (delta) => delta.includes("answer") && session.abort());
    const code = await createHeadlessRunner({ session, output: stdout.stream }).run("go");
    await session.shutdown();
    assert.deepEqual([code, stdout.text()], [0, "partial answer\n"]);
  });

  it("runs slash commands without the model, and says when there is none of that name", async () => {
    const help = {
      name: "help",
      description: "Help",
      execute: async (_: unknown, args: string) => ({ success: true, message: `helped ${args}` }),
    };
    const known = await run("json", [], { prompt: "/help with  quotes", commands: [help] });
    assert.deepEqual([known.code, JSON.parse(known.out).result, known.asked], [0, "helped with  quotes", 0]);
    const unknown = await run("text", [], { prompt: "/qwertyuiop x" });
    assert.deepEqual(unknown, {
      code: 1,
      out: "",
      err: 'Unknown command "/qwertyuiop". /help lists what there is. With a space in front it is a prompt.\n',
      asked: 0,
    });
  });

  it("makes a result of a command that throws", async () => {
    const broken = { name: "broken", description: "", execute: () => Promise.reject(new Error("out of order")) };
    const { code, out } = await run("json", [], { prompt: "/broken", commands: [broken] });
    assert.deepEqual([code, JSON.parse(out).subtype, JSON.parse(out).error.message], [1, "error", "out of order"]);
  });

  it("says a hook's own words when it did not let the prompt in", async () => {
    const hooks = { UserPromptSubmit: [{ hooks: [async () => ({ decision: "block" as const, reason: "not today" })] }] };
    const { code, err } = await run("text", [], { hooks });
    assert.deepEqual([code, err], [1, "Stopped by a hook: not today\n"]);
  });

  it("leaves nothing on a stream it has written to", async () => {
    const session = new InteractiveSession({ cwd: tmpdir(), provider: createScriptedProvider([{ text: "a" }, { text: "b" }]) });
    const { stream, text } = collect();
    const before = stream.eventNames().map((name) => [name, stream.listenerCount(name)]);
    const runner = createHeadlessRunner({ session, output: stream });
    assert.deepEqual([await runner.run("one"), await runner.run("two"), text()], [0, 0, "a\nb\n"]);
    assert.deepEqual(
      stream.eventNames().map((name) => [name, stream.listenerCount(name)]),
      before,
    );
    await session.shutdown();
  });

  it("sends a prompt that only starts with a path to the model", async () => {
    assert.equal((await run("text", [{ text: "ok" }], { prompt: "/usr/bin/foo crashes, why?" })).asked, 1);
  });

  it("waits for a slow reader and loses nothing", async () => {
    const words = Array.from({ length: 3000 }, (_, index) => `word${index} `).join("");
    const provider = createScriptedProvider([{ text: words }]);
    const session = new InteractiveSession({ cwd: tmpdir(), provider });
    const slow = new PassThrough({ highWaterMark: 1024 });
    const running = createHeadlessRunner({ session, outputFormat: "stream-json", output: slow }).run("go");
    let text = "";
    let reads = 0;
    for await (const chunk of slow) {
      text += chunk;
      if (++reads % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (text.includes('"type":"result"')) break;
    }
    assert.equal(await running, 0);
    const frames = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(
      frames
        .slice(0, -1)
        .map((frame) => frame.event.delta.text)
        .join(""),
      words,
    );
    await session.shutdown();
  });

  it("stops the turn when nobody reads any more", async () => {
    const provider = createScriptedProvider([{ text: "a b c d e f g", hang: true }]);
    const session = new InteractiveSession({ cwd: tmpdir(), provider });
    const stream = new PassThrough();
    stream.once("data", () => stream.destroy(Object.assign(new Error("EPIPE"), { code: "EPIPE" })));
    await createHeadlessRunner({ session, outputFormat: "stream-json", output: stream }).run("go");
    assert.equal(session.isExecuting(), false);
    await session.shutdown();
  });
});

describe("the headless transport", () => {
  it("is attached to a session, runs its prompt on start and knows the exit code", async () => {
    const session = new InteractiveSession({ cwd: tmpdir(), provider: createScriptedProvider([{ text: "hi" }]) });
    const stdout = collect();
    const transport = createHeadlessTransport({ prompt: "hello", outputFormat: "text", output: stdout.stream });
    assert.equal(transport.name, "headless");
    session.attachTransport(transport);
    await transport.start();
    assert.deepEqual([transport.getExitCode(), stdout.text()], [0, "hi\n"]);
    await transport.stop();
    await session.shutdown();
  });
});
