import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { images } from "../border/images.ts";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { places, refused, TestClient } from "./acp-client.ts";
import { eventually, model, processesWith, run } from "./command.ts";

const choose = (optionId: string) => () => ({ outcome: { outcome: "selected", optionId } });
const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });

describe("outrider acp", { timeout: 120_000 }, () => {
  it("says who it is and what it can do, in version 1 whatever is asked for", async () => {
    const { env } = await model([], places().home);
    for (const protocolVersion of [0, 1, 99]) {
      const client = new TestClient({ env });
      const { authMethods, agentInfo, ...answer } = await client.request("initialize", { protocolVersion });
      assert.deepEqual(answer, {
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, delete: {}, additionalDirectories: {}, resume: {}, close: {}, fork: {} },
        },
      });
      assert.equal(agentInfo?.name, "outrider");
      assert.deepEqual(
        authMethods?.map(({ id }) => id),
        ["provider-key"],
      );
      await client.end();
    }
    const forgetful = new TestClient({ env, args: ["--no-session-persistence"] });
    const { agentCapabilities } = await forgetful.initialize();
    assert.equal(agentCapabilities?.loadSession, false);
    assert.deepEqual(agentCapabilities?.sessionCapabilities, { additionalDirectories: {}, close: {} });
    await forgetful.end();
  });

  it("answers a prompt with the model's words, what they took, and how it ended", async () => {
    const { home, cwd } = places();
    const usage = { inputTokens: 1000, outputTokens: 50, cacheReadTokens: 400 };
    const { env } = await model([{ reasoning: "Let me think.", text: "Good day.", usage }], home);
    const client = new TestClient({ env, args: ["--model", "claude-sonnet-4-6"] });
    const { sessionId } = await client.open(cwd);
    const { stopReason, usage: told } = await client.prompt(sessionId, "hello");
    assert.equal(stopReason, "end_turn");
    assert.deepEqual(
      { in: told?.inputTokens, out: told?.outputTokens, cached: told?.cachedReadTokens, total: told?.totalTokens },
      { in: 1000, out: 50, cached: 400, total: 1050 },
    );
    assert.equal(client.text(), "Good day.");
    assert.equal(client.text(sessionId, "agent_thought_chunk"), "Let me think.");
    const [meter] = client.updates("usage_update");
    assert.equal(meter?.used, 1050);
    assert.ok((meter?.size ?? 0) >= 200_000);
    assert.equal(meter?.cost?.currency, "USD");
    assert.ok((meter?.cost?.amount ?? 0) > 0.002 && (meter?.cost?.amount ?? 0) < 0.004, `${meter?.cost?.amount}`);
    const { code, stderr, stdout } = await client.end();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    for (const line of stdout.trimEnd().split("\n")) assert.equal(JSON.parse(line).jsonrpc, "2.0");
  });

  it("asks before a command, runs it, and tells the call from its announcement to its output", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([bash("echo marked > file.txt && cat file.txt"), { text: "done" }], home);
    const client = new TestClient({ env, onPermission: choose("allow") });
    const { sessionId } = await client.open(cwd);
    assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
    assert.equal(readFileSync(join(cwd, "file.txt"), "utf8"), "marked\n");
    assert.match(JSON.stringify(server.requests[1]?.body), /marked/);
    const [question] = client.questions;
    assert.equal(question?.sessionId, sessionId);
    assert.equal(question?.toolCall.title, "echo marked > file.txt && cat file.txt");
    const calls = client.told.flatMap(({ update }) =>
      update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update" ? [update] : [],
    );
    assert.deepEqual(
      calls.map(({ status, toolCallId }) => [status, toolCallId === question?.toolCall.toolCallId]),
      [
        ["pending", true],
        [undefined, true],
        ["in_progress", true],
        ["completed", true],
      ],
    );
    assert.deepEqual(calls.at(-1)?.rawOutput, { output: "marked", exitCode: 0 });
    const kinds = client.told.map(({ update }) => update.sessionUpdate);
    assert.ok(kinds.indexOf("usage_update") > kinds.lastIndexOf("tool_call_update"), "what was used comes after the results");
    await client.end();
  });

  it("shows a changed file with its path and what changed, and a task list as a plan", async () => {
    const { home, cwd } = places();
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n");
    const { env } = await model(
      [
        { calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
        { calls: [{ name: "Edit", input: { file_path: "a.txt", old_string: "two", new_string: "2" } }] },
        { calls: [{ name: "TodoWrite", input: { todos: [{ content: "rest", status: "pending" }] } }] },
        { text: "done" },
      ],
      home,
    );
    const client = new TestClient({ env, args: ["--permission-mode", "acceptEdits"] });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "edit");
    assert.equal(client.questions.length, 0);
    const path = join(realpathSync(cwd), "a.txt");
    const edit = client.updates("tool_call_update").find(({ kind, status }) => kind === "edit" && status === "completed");
    assert.deepEqual(edit?.content, [{ type: "diff", path, oldText: "one\ntwo\nthree", newText: "one\n2\nthree" }]);
    const announced = client.updates("tool_call_update").find(({ kind, locations }) => kind === "edit" && locations);
    assert.deepEqual(announced?.locations, [{ path }]);
    assert.deepEqual(
      client.updates("plan").map(({ entries }) => entries),
      [[{ content: "rest", priority: "medium", status: "pending" }]],
    );
    await client.end();
  });

  it("hands files, texts and images of a prompt to the model, and refuses what it cannot understand", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "seen" }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    await client.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "look" },
        { type: "resource_link", uri: "file:///somewhere/a.ts", name: "a.ts" },
        { type: "resource", resource: { uri: "file:///somewhere/b.ts", text: "const b = 2;" } },
        { type: "image", mimeType: "image/jpeg", data: images.png },
        { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
        { type: "text", text: "half \ud83d" },
      ],
    });
    const body = JSON.stringify(server.requests[0]?.body);
    const shown = ["look", "@/somewhere/a.ts", "const b = 2;", `"media_type":"image/png","data":"${images.png}"`, "half \ufffd"];
    for (const piece of [...shown, "in truth PNG, 8 bytes. It is not shown: it is damaged"])
      assert.ok(body.includes(piece), piece);
    const audio = { type: "audio", mimeType: "audio/wav", data: "AAAA" } as const;
    const { code } = await refused(client.request("session/prompt", { sessionId, prompt: [audio] }));
    assert.equal(code, -32602);
    assert.equal((await refused(client.request("session/prompt", { sessionId, prompt: [] }))).code, -32602);
    assert.equal(server.requests.length, 1);
    await client.end();
  });

  it("works in several sessions at once, each in its own folder", async () => {
    const { home, cwd } = places();
    const other = join(home, "other");
    mkdirSync(other);
    const { env } = await model((request) => {
      const body = JSON.stringify(request.body);
      const name = body.includes("in the first") ? "first" : "second";
      return body.includes("tool_result") ? { text: `${name} is done` } : bash(`pwd > ${name}.txt`);
    }, home);
    const client = new TestClient({ env, onPermission: choose("allow") });
    const first = await client.open(cwd);
    const second = await client.request("session/new", { cwd: other, mcpServers: [] });
    assert.notEqual(first.sessionId, second.sessionId);
    await Promise.all([client.prompt(first.sessionId, "in the first"), client.prompt(second.sessionId, "in the second")]);
    assert.equal(readFileSync(join(cwd, "first.txt"), "utf8"), `${realpathSync(cwd)}\n`);
    assert.equal(readFileSync(join(other, "second.txt"), "utf8"), `${realpathSync(other)}\n`);
    assert.deepEqual([client.text(first.sessionId), client.text(second.sessionId)], ["first is done", "second is done"]);
    await client.end();
  });

  it("a prompt that comes while one runs waits for it; both are answered in their order, and a cancel takes back all", async () => {
    const { home, cwd } = places();
    const never = { text: "never", delayMs: 600_000 };
    const { env, server } = await model([{ text: "slow.", delayMs: 300 }, { text: "second." }, never], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    const answers: string[] = [];
    const ask = async (text: string): Promise<void> => {
      const { stopReason } = await client.prompt(sessionId, text);
      answers.push(`${text} ${stopReason} ${client.text()}`);
    };
    await Promise.all([ask("one"), ask("two")]);
    assert.deepEqual(answers, ["one end_turn slow.", "two end_turn slow.second."]);
    const waiting = ["runs", ...Array.from({ length: 8 }, (_, index) => `waits ${index}`)].map(ask);
    const { code, data } = await refused(client.prompt(sessionId, "one too many"));
    assert.deepEqual({ code, ours: data.code }, { code: -32600, ours: "busy" });
    await eventually(() => server.requests.length === 3, "the first of them runs");
    client.cancel(sessionId);
    await Promise.all(waiting);
    assert.equal(answers.filter((answer) => / cancelled /.test(answer)).length, 9);
    assert.equal(server.requests.length, 3, "what waited was never begun");
    await client.end();
  });

  it("/compact makes room, and is among the commands", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "one" }, { text: "two" }, { text: "A summary." }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    await eventually(() => client.updates("available_commands_update").length > 0, "the commands");
    assert.deepEqual(client.updates("available_commands_update")[0]?.availableCommands[0]?.name, "compact");
    await client.prompt(sessionId, "first");
    await client.prompt(sessionId, "second");
    assert.equal((await client.prompt(sessionId, "/compact the names")).stopReason, "end_turn");
    assert.match(client.text(), /^onetwoOlder messages gave way to a summary: about [\d,]+ tokens before, [\d,]+ now$/);
    assert.match(JSON.stringify(server.requests[2]?.body), /the names/);
    await client.end();
  });

  it("--help says how to set it up, the help of the command names it, and what makes no sense with it is refused", async () => {
    const help = await run(["acp", "--help"]);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /agent_servers/);
    assert.match((await run(["--help"])).stdout, /outrider acp/);
    for (const words of [["--resume", "x"], ["--trajectory", "x.json"], ["hello"], ["--cwd", "/"]]) {
      const { code, stdout } = await run(["acp", ...words]);
      assert.deepEqual({ code, stdout }, { code: 64, stdout: "" }, words.join(" "));
    }
  });
});

describe("stop reasons over ACP", { timeout: 120_000 }, () => {
  const reasons: [string, ModelServerOptions["replies"], string[]][] = [
    ["max_turn_requests", [bash("true"), { text: "more" }], ["--max-turns", "1", "--allowedTools", "Bash"]],
    ["refusal", [{ text: "no", finish: "refusal" }], []],
    ["max_tokens", () => ({ text: "cut", finish: "length" }), []],
  ];
  for (const [reason, replies, args] of reasons)
    it(reason, async () => {
      const { home, cwd } = places();
      const { env } = await model(replies, home);
      const client = new TestClient({ env, args });
      const { sessionId } = await client.open(cwd);
      assert.equal((await client.prompt(sessionId, "go")).stopReason, reason);
      await client.end();
    });

  it("a failure is an error with our code, a message and a hint, and the session takes the next prompt", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ status: 400 }, { text: "better" }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    const { code, data, message } = await refused(client.prompt(sessionId, "go"));
    assert.deepEqual({ code, ours: data.code }, { code: -32603, ours: "provider-bad-request" });
    assert.match(message, /Scripted status 400/);
    assert.equal((await client.prompt(sessionId, "again")).stopReason, "end_turn");
    await client.end();
  });
});

describe("session/cancel", { timeout: 120_000 }, () => {
  it("stops tools, and the prompt is answered as cancelled", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("sleep 4321.5"), { text: "next" }], home);
    const client = new TestClient({ env, onPermission: choose("allow") });
    const { sessionId } = await client.open(cwd);
    const prompt = client.prompt(sessionId, "go");
    await eventually(() => processesWith("sleep\x004321.5").length > 0, "the tool runs");
    client.cancel(sessionId);
    assert.equal((await prompt).stopReason, "cancelled");
    await eventually(() => processesWith("sleep\x004321.5").length === 0, "the tool is gone");
    assert.equal(client.updates("tool_call_update").at(-1)?.status, "failed");
    assert.equal((await client.prompt(sessionId, "again")).stopReason, "end_turn");
    await client.end();
  });

  it("ends a question that nobody answers", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("touch never")], home);
    const client = new TestClient({ env, onPermission: () => new Promise(() => {}) });
    const { sessionId } = await client.open(cwd);
    const prompt = client.prompt(sessionId, "go");
    await eventually(() => client.questions.length > 0, "the question");
    client.cancel(sessionId);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.throws(() => readFileSync(join(cwd, "never")));
    await client.end();
  });

  it("stops a model that says nothing more", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ text: "Well", hang: true }, { text: " then" }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    const prompt = client.prompt(sessionId, "go");
    await eventually(() => client.text() === "Well", "its first word");
    client.cancel(sessionId);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal((await client.prompt(sessionId, "again")).stopReason, "end_turn");
    await client.end();
  });

  it("comes in time while the session is still being opened, and means nothing when nothing runs", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "later" }], home);
    const client = new TestClient({ env });
    const silent = { name: "silent", command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], env: [] };
    const at = Date.now();
    const { sessionId } = await client.open(cwd, { mcpServers: [silent] });
    assert.ok(Date.now() - at < 5000, "the session is there before the server is");
    client.cancel(sessionId);
    const prompt = client.prompt(sessionId, "go");
    client.cancel(sessionId);
    assert.equal((await prompt).stopReason, "cancelled");
    client.cancel("nobody");
    assert.equal(server.requests.length, 0);
    const { code } = await client.end();
    assert.equal(code, 0);
    assert.ok(Date.now() - at < 9000, "and a server that never answers holds up no end");
  });
});
