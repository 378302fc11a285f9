import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { places, refused, TestClient } from "./acp-client.ts";
import { model, projectRoot } from "./command.ts";

const choose = (optionId: string) => () => ({ outcome: { outcome: "selected", optionId } });
const everything = join(projectRoot, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
/** What looks like a variable, and is none. */
const literal = ["as it is: $", "{HOME}"].join("");

describe("keys and servers over ACP", { timeout: 120_000 }, () => {
  it("without a provider the client is told to authenticate", async () => {
    const { home, cwd } = places();
    const client = new TestClient({ env: { OUTRIDER_HOME: home } });
    await client.initialize();
    const asked = await refused(client.request("session/new", { cwd, mcpServers: [] }));
    assert.deepEqual({ code: asked.code, ours: asked.data.code }, { code: -32000, ours: "provider-auth" });
    assert.match(asked.data.hint ?? "", /ANTHROPIC_API_KEY/);
    assert.equal((await refused(client.request("authenticate", { methodId: "provider-key" }))).code, -32000);
    assert.equal((await refused(client.request("authenticate", { methodId: "magic" }))).code, -32602);
    // Somebody sets one up meanwhile.
    const settings = {
      providers: { own: { type: "openai-compatible", baseURL: "http://127.0.0.1:9/v1", model: "m" } },
      currentProvider: "own",
    };
    writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
    await client.request("authenticate", { methodId: "provider-key" });
    const { configOptions } = await client.request("session/new", { cwd, mcpServers: [] });
    assert.equal(configOptions?.find(({ id }) => id === "model")?.currentValue, "m");
    await client.end();
  });

  it("a key that is refused asks for authentication too, and wrong settings do not", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ status: 401 }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    assert.equal((await refused(client.prompt(sessionId, "go"))).code, -32000);
    writeFileSync(join(home, "settings.json"), "{ broken");
    const wrong = await refused(client.request("session/new", { cwd, mcpServers: [] }));
    assert.deepEqual({ code: wrong.code, ours: wrong.data.code }, { code: -32603, ours: "config" });
    await client.end();
  });

  it("uses the MCP servers that the client names: programs and addresses", async () => {
    const { home, cwd } = places();
    const port = await freePort();
    const child = spawn(process.execPath, [everything, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    after(() => child.kill("SIGKILL"));
    await new Promise<void>((resolve) => child.stderr.on("data", (text) => String(text).includes("listening") && resolve()));
    const call = (server: string, message: string) => ({ calls: [{ name: `mcp__${server}__echo`, input: { message } }] });
    const { env, server } = await model(
      [call("local", "near"), call("remote", "far"), { calls: [{ name: "mcp__local__get-env" }] }, { text: "ok" }],
      home,
    );
    const client = new TestClient({ env, onPermission: choose("allow") });
    const { sessionId } = await client.open(cwd, {
      mcpServers: [
        { name: "local", command: process.execPath, args: [everything, "stdio"], env: [{ name: "GIVEN", value: literal }] },
        { type: "http", name: "remote", url: `http://127.0.0.1:${port}/mcp`, headers: [] },
      ],
    });
    assert.equal((await client.prompt(sessionId, "echo")).stopReason, "end_turn");
    const last = JSON.stringify(server.requests[3]?.body);
    assert.ok(last.includes(literal), "what a client says is literal");
    assert.match(last, /near/);
    assert.match(last, /far/);
    assert.equal(client.updates("tool_call")[0]?.title, "mcp__local__echo");
    const nameless = { cwd, mcpServers: [{ name: "--", command: "x", args: [], env: [] }] };
    assert.equal((await refused(client.request("session/new", nameless))).code, -32602);
    await client.end();
  });

  it("what a server's configuration forbids is forbidden here too, whatever the flags allow", async () => {
    const { home, cwd } = places();
    const call = { calls: [{ name: "mcp__tiny__echo", input: { message: "hi" } }] };
    const { env, server } = await model([call, { text: "done" }], home);
    const tiny = {
      command: process.execPath,
      args: [everything, "stdio"],
      tools: [{ name: "echo", permission_policy: "always_deny" }],
    };
    const args = ["--mcp-config", JSON.stringify({ mcpServers: { tiny } }), "--allowedTools", "mcp__tiny"];
    const client = new TestClient({ env, args, onPermission: choose("allow") });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "echo");
    const [, second] = server.requests;
    assert.match(JSON.stringify(second?.body), /mcp__tiny__echo forbids it/);
    assert.doesNotMatch(JSON.stringify(second?.body), /Echo: hi/);
    await client.end();
  });

  it("a server that fails is told of on stderr, and with --require-mcp by the prompt", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ text: "without it" }], home);
    const broken = [{ name: "broken", command: "/nowhere/at/all", args: [], env: [] }];
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd, { mcpServers: broken });
    assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
    assert.match((await client.end()).stderr, /MCP server broken is not connected/);
    const strict = new TestClient({ env, args: ["--require-mcp"] });
    const opened = await strict.open(cwd, { mcpServers: broken });
    const { data, message } = await refused(strict.prompt(opened.sessionId, "go"));
    assert.equal(data.code, "config", message);
    await strict.end();
  });

  it("settings of a project nobody trusts are told of, and do not count", async () => {
    const { home, cwd } = places();
    mkdirSync(join(cwd, ".outrider"));
    mkdirSync(join(cwd, ".git"));
    const command = `touch ${join(home, "hooked")}`;
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] };
    writeFileSync(join(cwd, ".outrider/settings.json"), JSON.stringify({ hooks }));
    const { env } = await model([{ text: "ok" }], home);
    const client = new TestClient({ env, capabilities: { session: { notices: {} } } });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "go");
    assert.match(client.updates("notice")[0]?.title ?? "", /not trusted/);
    assert.equal(existsSync(join(home, "hooked")), false);
    assert.match((await client.end()).stderr, /not trusted/);
  });

  it("secrets of the environment do not get out", async () => {
    const { home, cwd } = places();
    const secret = "sk-ant-api03-veryverysecretvalue000111";
    writeFileSync(join(cwd, "notes"), `the key is ${secret}\n`);
    const { env } = await model(
      [{ calls: [{ name: "Read", input: { file_path: "notes" } }] }, { text: `It is ${secret}.` }],
      home,
    );
    const client = new TestClient({ env: { ...env, ANTHROPIC_API_KEY: secret } });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "read");
    const { stdout, stderr } = await client.end();
    assert.match(readFileSync(join(cwd, "notes"), "utf8"), /verysecret/);
    assert.doesNotMatch(stdout + stderr, /verysecret/);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number }; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}
