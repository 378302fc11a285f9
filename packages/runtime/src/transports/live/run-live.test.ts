import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { textOf } from "../../protocol/content.ts";
import { createIdSeries } from "../../util/unique-ids.ts";
import { createClaudeFormat } from "../headless/claude-format.ts";
import { type HostOptions, LiveHost } from "../../../../../test/support/live-host.ts";

let cwd = "";
let hosts: LiveHost[] = [];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-live-"));
  hosts = [];
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  rmSync(cwd, { recursive: true, force: true });
});

function start(replies: HostOptions["replies"], more: Omit<HostOptions, "cwd" | "replies"> = {}): LiveHost {
  const host = new LiveHost({ cwd, replies, ...more });
  hosts.push(host);
  return host;
}

const slowText = { text: "word ".repeat(3000) };
const slowTool = { calls: [{ name: "Bash", input: { command: "sleep 0.4" } }] };
const anything = { session: { permissionMode: "bypassPermissions", permissions: { mayBypass: true } } } as const;

describe("live input", () => {
  it("refuses a prompt when too many wait, with a result of its own", async () => {
    const host = start([slowTool, { text: "done" }], anything);
    for (let line = 0; line < 1_002; line++) host.send('{"type":"user","content":"more"}\n');
    const first = await host.result(1);
    assert.deepEqual([first["is_error"], (first["error"] as { code: string }).code], [true, "busy"]);
  });

  it("runs each line as it comes, keeps the history, and ends with the input", async () => {
    const host = start([{ text: "one" }, { text: "two" }]);
    host.say("first");
    assert.equal((await host.result(1))["result"], "one");
    host.send('{"type":"user","content":"second"}\n');
    assert.equal((await host.result(2))["result"], "two");
    assert.deepEqual(await host.end(), { type: "completed", text: "two" });
    assert.deepEqual(
      host.requests[1]?.messages.map(({ role, content }) => `${role}: ${textOf(content)}`),
      ["user: first", "assistant: one", "user: second"],
    );
  });

  it("takes blank lines, CRLF, a line in pieces, and a last line without its end", async () => {
    const host = start([{ text: "one" }, { text: "two" }]);
    host.send('\n  \r\n{"type":"user","con');
    host.send('tent":"first"}\r\n\n');
    await host.result(1);
    host.send('{"type":"user","content":"second"}');
    await host.end();
    assert.equal(host.results.length, 2);
  });

  it("skips a malformed line with a warning", async () => {
    const host = start([{ text: "one" }, { text: "two" }]);
    host.send(
      '{"type":"user","content":"first"}\n{"type":\n{"type":"later"}\n{"type":"later"}\n{"type":"user","content":"second"}\n',
    );
    assert.deepEqual(await host.end(), { type: "completed", text: "two" });
    const warned = host.frames.flatMap(({ subtype, message }) => (subtype === "warning" ? [String(message)] : []));
    assert.deepEqual(
      [warned.length, warned.some((text) => /not valid JSON/.test(text)), warned.some((text) => /"later"/.test(text))],
      [2, true, true],
    );
  });

  it("strictly, does what came before a malformed line, answers the line with one error, and reads no further", async () => {
    const host = start([{ text: "one" }, { text: "two" }], { live: { strict: true } });
    host.send(
      '{"type":"user","content":"first"}\n{"type":"user","content":"second"}\n{"type":\n{"type":"user","content":"third"}\n',
    );
    const outcome = await host.run.done;
    assert.ok(outcome.type === "failed" && outcome.error.code === "usage");
    assert.deepEqual(
      host.results.map(({ subtype }) => subtype),
      ["success", "success", "error_during_execution"],
    );
    assert.equal(host.requests.length, 2);
  });

  it("lets a running turn finish when the input ends", async () => {
    const host = start([slowTool, { text: "done" }], anything);
    host.say("go");
    await host.frame(({ type }) => type === "assistant", "the call");
    assert.deepEqual(await host.end(), { type: "completed", text: "done" });
    assert.equal(host.results.length, 1);
  });

  it("has nothing to say when the input is empty", async () => {
    const host = start([]);
    assert.deepEqual(await host.end(), { type: "completed", text: "" });
    assert.deepEqual([host.frames, host.opened], [[], 0]);
  });

  it("strictly, says that there was nothing when the input is empty", async () => {
    const host = start([], { live: { strict: true } });
    const outcome = await host.end();
    assert.ok(outcome.type === "failed" && outcome.error.code === "no-input");
    assert.equal(host.results.length, 1);
    assert.equal(host.opened, 0);
  });

  it("has nothing to say to a host that asked its questions and left", async () => {
    const host = start([]);
    host.request("r1", { subtype: "initialize" });
    assert.deepEqual(await host.end(), { type: "completed", text: "" });
    assert.equal((await host.reply("r1"))["subtype"], "success");
    assert.deepEqual(host.results, []);
  });

  it("lets the output say its last words once, after everything else", async () => {
    const ids = { sessionId: "00000000-0000-4000-8000-000000000000", newId: createIdSeries() };
    const early = { ...createClaudeFormat("stream-json", ids), close: async () => '{"type":"last"}\n' };
    const host = start([], { live: { early } });
    host.say("a note", { shouldQuery: false });
    await host.end();
    assert.deepEqual(host.kinds, ["result/success", "last"]);
  });

  it("runs messages that come at once as turns of their own, in order", async () => {
    const host = start([{ text: "one" }, { text: "two" }, { text: "three" }]);
    for (const text of ["a", "b", "c"]) host.say(text);
    await host.end();
    assert.deepEqual(
      host.results.map(({ result }) => result),
      ["one", "two", "three"],
    );
  });

  it("folds a message into a turn that goes on, and gives it a result of its own", async () => {
    const host = start([slowTool, { text: "for both" }], anything);
    host.say("first");
    await host.frame(({ type }) => type === "assistant", "the call");
    host.say("also this");
    await host.end();
    assert.deepEqual(
      host.results.map(({ result }) => result),
      ["for both", "for both"],
    );
    assert.match(JSON.stringify(host.requests[1]?.messages), /also this/);
    assert.equal(host.requests.length, 2);
  });

  it("lets a message wait that asks for it, even when the turn goes on", async () => {
    const host = start([slowTool, { text: "one" }, { text: "two" }], anything);
    host.say("first");
    await host.frame(({ type }) => type === "assistant", "the call");
    host.say("later", { priority: "later" });
    await host.end();
    assert.deepEqual(
      host.results.map(({ result }) => result),
      ["one", "two"],
    );
  });

  it("ends what runs for a message that is urgent", async () => {
    const host = start([slowText, { text: "at once" }]);
    host.say("talk");
    await host.frame(({ type }) => type === "stream_event", "its words");
    host.say("now", { priority: "now" });
    await host.end();
    assert.deepEqual(
      host.results.map(({ subtype, is_error, terminal_reason }) => [subtype, is_error, terminal_reason]),
      [
        ["success", false, "aborted_streaming"],
        ["success", false, "completed"],
      ],
    );
    assert.equal(host.results[1]?.["result"], "at once");
  });

  it("keeps what is not to be asked for the next prompt, and answers it at once", async () => {
    const host = start([{ text: "both read" }]);
    host.say("a note", { shouldQuery: false });
    assert.equal((await host.result(1))["result"], "");
    assert.equal(host.opened, 0);
    host.say("a question");
    await host.end();
    assert.equal(host.results.length, 2);
    assert.match(JSON.stringify(host.requests[0]?.messages), /a note.*a question/);
  });

  it("ends well when nothing was to be asked", async () => {
    const host = start([]);
    host.say("a note", { shouldQuery: false });
    assert.deepEqual(await host.end(), { type: "completed", text: "" });
    assert.equal(host.results.length, 1);
  });

  it("answers a message it cannot use, and goes on with the others", async () => {
    const host = start([{ text: "fine" }]);
    host.send({ type: "user", message: { role: "user", content: [{ type: "document", source: { type: "url" } }] } });
    host.say("hello");
    await host.end();
    assert.deepEqual(
      host.results.map(({ subtype }) => subtype),
      ["error_during_execution", "success"],
    );
  });

  it("drops a message that was sent twice under one name, and writes it back where that was asked for", async () => {
    const uuid = "11111111-1111-4111-8111-111111111111";
    const host = start([{ text: "once" }], { live: { replayUserMessages: true } });
    host.say("hello", { uuid });
    await host.result(1);
    host.say("hello", { uuid });
    await host.end();
    assert.equal(host.results.length, 1);
    const replays = host.frames.filter(({ isReplay }) => isReplay === true);
    assert.deepEqual(
      replays.map((frame) => frame["uuid"]),
      [uuid, uuid],
    );
  });

  it("writes no message back where that was not asked for", async () => {
    const host = start([slowTool, { text: "ok" }], anything);
    host.say("hello");
    await host.frame(({ type }) => type === "assistant", "the call");
    host.say("also this");
    await host.end();
    assert.ok(host.frames.every(({ isReplay }) => isReplay === undefined));
  });

  it("writes messages back after the init of their turn, under the name of the turn", async () => {
    const host = start([{ text: "ok" }], { live: { replayUserMessages: true } });
    host.say("hello");
    await host.result(1);
    const kinds = host.kinds.filter((kind) => kind !== "stream_event" && kind !== "system/status");
    assert.deepEqual(kinds, ["system/init", "user", "assistant", "result/success"]);
    const name = host.frames.find(({ isReplay }) => isReplay === true)?.["uuid"];
    host.request("r", { subtype: "rewind_files", user_message_id: String(name) });
    assert.deepEqual((await host.reply("r"))["response"], { canRewind: true, turnId: name });
  });

  it("writes messages back in the form in which they came", async () => {
    const host = start([{ text: "ok" }], { live: { replayUserMessages: true } });
    host.say("in words");
    await host.result(1);
    host.send({ type: "user", message: { role: "user", content: [{ type: "text", text: "in blocks" }] } });
    await host.result(2);
    const replays = host.frames.flatMap(({ isReplay, message }) =>
      isReplay === true ? [(message as { content: unknown }).content] : [],
    );
    assert.deepEqual(replays, ["in words", [{ type: "text", text: "in blocks" }]]);
  });

  it("waits for a reader that is slow, and loses nothing", async () => {
    const text = `${"word".repeat(50)} `.repeat(2_000);
    const host = start([{ text }], { deltaDelayMs: 0 });
    host.stdout.pause();
    host.say("talk");
    await new Promise((resolve) => setTimeout(resolve, 200)); // whatever has not been written by then has to wait
    assert.equal(host.results.length, 0);
    host.stdout.resume();
    assert.equal((await host.result(1))["result"], text);
    const words = host.frames.flatMap(({ event }) => (event as { delta?: { text?: string } } | undefined)?.delta?.text ?? []);
    assert.equal(words.join(""), text);
  });

  it("stops the work when nobody reads any more", async () => {
    const host = start(
      [{ calls: [{ name: "Bash", input: { command: "sleep 30; touch late.txt" } }] }, { text: "never" }],
      anything,
    );
    host.say("go");
    await host.frame(({ type }) => type === "assistant", "the call");
    host.stdout.destroy();
    const outcome = await host.run.done;
    assert.deepEqual(outcome.type === "cancelled" && outcome.cause, "output-closed");
    assert.equal(host.requests.length, 1);
    assert.ok(!existsSync(join(cwd, "late.txt")));
  });

  it("gives the running prompt and those that wait their results when it is stopped", async () => {
    const host = start([slowText, { text: "never" }]);
    host.say("talk");
    await host.frame(({ type }) => type === "stream_event", "its words");
    host.say("and then", { priority: "later" });
    await new Promise((resolve) => setImmediate(resolve));
    host.run.stop("signal");
    const outcome = await host.run.done;
    assert.equal(outcome.type, "cancelled");
    assert.equal(host.results.length, 2);
    assert.ok(host.results.every(({ is_error: isError }) => isError === true));
    assert.equal(host.requests.length, 1);
  });

  it("says that it was stopped when it had not begun", async () => {
    const host = start([]);
    host.run.stop("signal");
    assert.deepEqual(await host.run.done, { type: "cancelled", cause: "signal", text: "" });
    assert.equal(host.results.length, 1);
  });

  it("tells the reason to every prompt when there can be no session", async () => {
    const host = start([], { live: { open: async () => Promise.reject(new Error("no room")) } });
    host.say("one");
    host.say("two");
    await host.end();
    assert.equal(host.results.length, 2);
    assert.match(JSON.stringify(host.results), /no room.*no room/);
  });
});

describe("interrupt", () => {
  it("idle: is answered, and nothing else happens", async () => {
    const host = start([{ text: "one" }]);
    host.request("r1", { subtype: "interrupt" });
    assert.deepEqual((await host.reply("r1"))["response"], { still_queued: [] });
    host.say("hello");
    await host.end();
    assert.equal(host.results.length, 1);
    assert.equal(host.results[0]?.["subtype"], "success");
  });

  it("while the model speaks: one error result, and the next prompt runs", async () => {
    const host = start([slowText, { text: "next" }]);
    host.say("talk");
    await host.frame(({ type }) => type === "stream_event", "its words");
    host.request("r1", { subtype: "interrupt" });
    assert.equal((await host.result(1))["subtype"], "error_during_execution");
    host.say("more");
    assert.equal((await host.result(2))["result"], "next");
    assert.ok(host.kinds.indexOf("control_response") < host.kinds.indexOf("result/error_during_execution"));
  });

  it("in a tool: the tool is gone", async () => {
    const host = start([{ calls: [{ name: "Bash", input: { command: "sleep 30; touch late.txt" } }] }], anything);
    host.say("go");
    await host.frame(({ type }) => type === "assistant", "the call");
    host.send({ type: "control", subtype: "interrupt" });
    assert.equal((await host.result(1))["subtype"], "error_during_execution");
    assert.ok(!existsSync(join(cwd, "late.txt")));
  });

  it("before the session is open: the prompt does not run", async () => {
    let open = (): void => {};
    const opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    const host = start([{ text: "never" }], { opening });
    host.say("hello");
    host.request("r1", { subtype: "interrupt" });
    await host.reply("r1");
    open();
    await host.end();
    assert.equal(host.requests.length, 0);
    assert.deepEqual(
      host.results.map(({ subtype }) => subtype),
      ["error_during_execution"],
    );
  });

  it("as a line of its own: what waits runs all the same", async () => {
    const host = start([slowText, { text: "kept" }]);
    host.say("talk");
    await host.frame(({ type }) => type === "stream_event", "its words");
    host.say("kept", { priority: "later" });
    host.send({ type: "control", subtype: "interrupt" });
    assert.equal((await host.result(2))["result"], "kept");
  });

  it("before the session is open: a message can be taken back, and has one result", async () => {
    let open = (): void => {};
    const opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    const uuid = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    const host = start([{ text: "next" }], { opening });
    host.say("not this", { uuid });
    host.request("r1", { subtype: "cancel_async_message", message_uuid: uuid });
    assert.deepEqual((await host.reply("r1"))["response"], { cancelled: true });
    host.say("this");
    open();
    await host.end();
    assert.deepEqual(
      host.results.map(({ subtype, result }) => [subtype, result]),
      [
        ["error_during_execution", undefined],
        ["success", "next"],
      ],
    );
  });

  it("at a permission question: the question is taken back before the result, and a late answer does no harm", async () => {
    const host = start([{ calls: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: "next" }], {
      permissions: "host",
    });
    host.say("go");
    const { id } = await host.asked("can_use_tool");
    host.request("r1", { subtype: "interrupt" });
    await host.result(1);
    const withdrawn = host.frames.findIndex(({ type, request_id: name }) => type === "control_cancel_request" && name === id);
    assert.ok(withdrawn !== -1 && withdrawn < host.kinds.indexOf("result/error_during_execution"));
    host.answer(id, { behavior: "allow" });
    host.say("more");
    assert.equal((await host.result(2))["result"], "next");
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("keeps what waits and names it; with cancel_queued it is dropped, with a result each", async () => {
    const host = start([slowText, { text: "kept" }, slowText]);
    host.say("talk");
    await host.frame(({ type }) => type === "stream_event", "its words");
    host.say("kept", { uuid: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa" });
    host.request("r1", { subtype: "interrupt" });
    assert.deepEqual((await host.reply("r1"))["response"], { still_queued: ["aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"] });
    assert.equal((await host.result(2))["result"], "kept");
    host.say("talk again");
    await host.frame(() => host.requests.length === 3, "the third request");
    host.say("dropped", { uuid: "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb" });
    host.request("r2", { subtype: "interrupt", cancel_queued: true });
    assert.deepEqual((await host.reply("r2"))["response"], {
      still_queued: [],
      cancelled: ["bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"],
    });
    await host.result(4);
    await host.end();
    assert.equal(host.requests.length, 3);
    assert.equal(host.results.length, 4);
  });

  it("cancel_async_message takes one message back", async () => {
    const host = start([slowText, { text: "never" }]);
    host.say("talk");
    await host.frame(({ type }) => type === "stream_event", "its words");
    host.say("not this", { uuid: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa" });
    host.request("r1", { subtype: "cancel_async_message", message_uuid: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa" });
    assert.deepEqual((await host.reply("r1"))["response"], { cancelled: true });
    host.request("r2", { subtype: "cancel_async_message", message_uuid: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa" });
    assert.deepEqual((await host.reply("r2"))["response"], { cancelled: false });
    host.request("r3", { subtype: "interrupt" });
    await host.end();
    assert.equal(host.requests.length, 1);
    assert.equal(host.results.length, 2);
  });
});
