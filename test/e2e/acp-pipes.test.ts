import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { places, TestClient } from "./acp-client.ts";
import { eventually, lines, model, processesWith, run, start } from "./command.ts";

const allow = () => ({ outcome: { outcome: "selected", optionId: "allow" } });
const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });
const message = (method: string, params: object, id?: number): string =>
  `${JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params })}\n`;
const hello = message("initialize", { protocolVersion: 1 }, 0);

describe("the pipes of outrider acp", { timeout: 120_000 }, () => {
  it("answers every line that is no request as JSON-RPC says, and goes on", async () => {
    const { env } = await model([], places().home);
    const { child, done } = start(["acp"], { env, stdin: "open" });
    child.stdin.write(
      [
        message("session/list", {}, 1),
        hello,
        "this is no JSON\n",
        "\r\n\n",
        "[]\n",
        "7\n",
        '{"jsonrpc":"2.0"}\n',
        '{"jsonrpc":"2.0","id":9,"result":{}}\n',
        `{"jsonrpc":"2.0","id":5,"method":"session/list","params":${"[".repeat(9_999)}${"]".repeat(9_999)}}\n`,
        message("session/dance", {}, 2),
        message("session/new", { cwd: 7 }, 3),
        message("session/cancel", {}),
        message("$/unknown", {}),
        message("session/list", {}, 4).trimEnd(),
      ].join(""),
    );
    child.stdin.end();
    const { code, stdout } = await done;
    assert.equal(code, 0);
    const answers = lines(stdout).map(({ id, error }) => `${id} ${(error as { code: number } | undefined)?.code ?? "ok"}`);
    assert.deepEqual(
      answers.sort(),
      [
        "0 ok",
        "1 -32600",
        "2 -32601",
        "3 -32602",
        "4 ok",
        "5 -32600",
        "null -32600",
        "null -32600",
        "null -32600",
        "null -32700",
      ].sort(),
      stdout,
    );
  });

  it("the end of stdin ends everything: the tool, the session, the agent", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("sleep 5432.5")], home);
    const client = new TestClient({ env, onPermission: allow });
    const { sessionId } = await client.open(cwd);
    const prompt = client.prompt(sessionId, "go");
    await eventually(() => processesWith("sleep\x005432.5").length > 0, "the tool runs");
    const at = Date.now();
    assert.equal((await client.end()).code, 0);
    assert.equal((await prompt).stopReason, "cancelled");
    await eventually(() => processesWith("sleep\x005432.5").length === 0, "the tool is gone");
    assert.ok(Date.now() - at < 4000, `${Date.now() - at} ms`);
    const { stdout } = await run(["sessions", "export", sessionId], { env, cwd });
    assert.deepEqual(
      lines(stdout)
        .map(({ type }) => type)
        .slice(-2),
      ["turn.ended", "session.ended"],
    );
  });

  it("a client that dies with a question open allows nothing", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("touch made"), { text: "?" }], home);
    const client = new TestClient({ env, onPermission: () => new Promise(() => {}) });
    const { sessionId } = await client.open(cwd);
    client.prompt(sessionId, "go").catch(() => {});
    await eventually(() => client.questions.length > 0, "the question");
    client.started.child.stdout.destroy();
    client.started.child.stdin.destroy();
    assert.equal((await client.started.done).code, 0);
    assert.equal(existsSync(join(cwd, "made")), false);
  });

  it("stdout that is closed ends it, also while stdin stays open", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ text: "many words ".repeat(2000), chunkBytes: 2000, chunkDelayMs: 5 }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    client.prompt(sessionId, "go").catch(() => {});
    await eventually(() => client.text() !== "", "the first word");
    client.started.child.stdout.destroy();
    assert.equal((await client.started.done).code, 0);
  });

  it("stdout that is closed while nothing is said ends it too", async () => {
    const { home, cwd } = places();
    const { env } = await model([], home);
    const client = new TestClient({ env });
    await client.open(cwd);
    client.started.child.stdout.destroy();
    assert.equal((await client.started.done).code, 0);
  });

  it("SIGTERM: the prompt is answered as cancelled, exit code 124, nothing is left", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("sleep 6543.5")], home);
    const client = new TestClient({ env, onPermission: allow });
    const { sessionId } = await client.open(cwd);
    const prompt = client.prompt(sessionId, "go");
    await eventually(() => processesWith("sleep\x006543.5").length > 0, "the tool runs");
    client.started.child.kill("SIGTERM");
    assert.equal((await prompt).stopReason, "cancelled");
    const { code, stdout } = await client.started.done;
    assert.equal(code, 124);
    for (const line of stdout.trimEnd().split("\n")) JSON.parse(line);
    await eventually(() => processesWith("sleep\x006543.5").length === 0, "the tool is gone");
  });

  it("SIGTERM while idle ends it although stdin stays open", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ text: "ok" }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "go");
    client.started.child.kill("SIGTERM");
    assert.equal((await client.started.done).code, 124);
  });

  it("waits for a client that is slow to read, loses nothing, and hears its cancel meanwhile", async () => {
    const { home, cwd } = places();
    const { env, server } = await model(
      [{ text: "0123456789".repeat(200_000) }, { text: "0123456789".repeat(400_000), chunkBytes: 60_000, chunkDelayMs: 20 }],
      home,
    );
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    const { child } = client.started;
    child.stdout.pause();
    const prompt = client.prompt(sessionId, "a long one");
    await eventually(() => server.requests.length === 1, "the request");
    await new Promise((resolve) => setTimeout(resolve, 500)); // long enough for what is not waited for to pile up
    child.stdout.resume();
    assert.equal((await prompt).stopReason, "end_turn");
    assert.equal(client.text().length, 2_000_000);
    child.stdout.pause();
    const second = client.prompt(sessionId, "another");
    await eventually(() => server.requests.length === 2, "the second request");
    client.cancel(sessionId);
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.stdout.resume();
    assert.equal((await second).stopReason, "cancelled");
    await client.end();
  });

  it("a client that reads nothing any more holds up no end", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "0123456789".repeat(200_000) }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    const { child } = client.started;
    child.stdout.pause();
    client.prompt(sessionId, "a long one").catch(() => {});
    await eventually(() => server.requests.length === 1, "the request");
    await new Promise((resolve) => setTimeout(resolve, 500)); // long enough for all pipes to be full
    child.stdin.end();
    const code = await new Promise((resolve) => child.on("exit", resolve));
    assert.equal(code, 0);
    child.stdout.resume();
    await client.started.done;
  });

  it("a client that asks on and reads nothing is answered when it reads", async () => {
    const { env } = await model([], places().home);
    const { child, done } = start(["acp"], { env, stdin: "open" });
    child.stdout.pause();
    child.stdin.write(hello);
    const count = 3000;
    for (let id = 1; id <= count; id++) child.stdin.write(message("session/close", { sessionId: "x".repeat(500), id }, id));
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.ok(child.stdin.writableLength > 0, "it has stopped reading");
    child.stdout.resume();
    let seen = 0;
    child.stdout.on("data", (text: string) => {
      seen += text.split("\n").length - 1;
    });
    await eventually(() => seen >= count + 1, "all answers");
    child.stdin.end();
    assert.equal((await done).code, 0);
  });
});
