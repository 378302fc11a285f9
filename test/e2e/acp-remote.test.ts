import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { client as createClient, type SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";
import { type ModelServer, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { eventually, run, type Started, start, tempFolder } from "./command.ts";

const home = realpathSync(tempFolder("acp-remote"));
const cwd = join(home, "project");
let model: ModelServer;

before(async () => {
  mkdirSync(cwd);
  const calls = [{ name: "Bash", input: { command: "touch made" } }];
  model = await startModelServer({
    replies: ({ body }) => (JSON.stringify(body).includes("tool_result") ? { text: "As you like." } : { text: "I try.", calls }),
  });
});
after(async () => await model.close());

async function serve(...flags: string[]): Promise<{ server: Started; url: string; env: Record<string, string> }> {
  const env = { OUTRIDER_HOME: tempFolder("acp-home"), ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: model.url };
  const server = start(["serve", ...flags], { cwd, env, stdin: "open" });
  after(() => server.child.kill("SIGKILL"));
  let text = "";
  server.child.stdout.on("data", (chunk: string) => (text += chunk));
  await eventually(() => /listens on \S+\n/.test(text), "the server listens");
  return { server, env, url: `${/listens on http(\S+)/.exec(text)?.[1]}/acp`.replace(/^/, "ws") };
}

const ownToken = (env: Record<string, string>): string =>
  readFileSync(join(env["OUTRIDER_HOME"] ?? "", "server/token"), "utf8").trim();

async function statusOf(url: string, token: string): Promise<number> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  return await new Promise((resolve) => {
    socket.on("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0));
    socket.on("error", () => {});
  });
}

describe("outrider serve --acp", () => {
  it("is an agent for the official client over a WebSocket, below the folders of the server, and the session is on record", async () => {
    const { url, env } = await serve("--acp");
    const updates: SessionUpdate[] = [];
    const questions: string[] = [];
    const stream = createWebSocketStream(url, {
      WebSocket: WebSocket as never,
      headers: { authorization: `Bearer ${ownToken(env)}` },
    });
    const connection = createClient({ name: "test" })
      .onRequest("session/request_permission", ({ params }) => {
        questions.push(params.toolCall.title ?? "");
        return {
          outcome: { outcome: "selected", optionId: params.options.find(({ kind }) => kind === "reject_once")?.optionId ?? "" },
        };
      })
      .onNotification("session/update", ({ params }) => void updates.push(params.update))
      .connect(stream);
    const { agent } = connection;
    const { agentInfo } = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    assert.equal(agentInfo?.name, "outrider");
    await assert.rejects(agent.request("session/new", { cwd: "/", mcpServers: [] }), /outside of the folders of this server/);
    const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
    const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
    assert.deepEqual([stopReason, questions.length], ["end_turn", 1]);
    const said = updates.flatMap((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : [],
    );
    assert.equal(said.join(""), "I try.As you like.");
    connection.close();
    assert.match((await run(["sessions", "list", "--json"], { cwd, env })).stdout, new RegExp(sessionId));
  });

  it("is for tokens with the scope admin alone, and not there without the flag", async () => {
    const { url, env } = await serve("--acp");
    const driver = (await run(["serve", "token", "add", "driver", "--scope", "drive,approve"], { cwd, env })).stdout.trim();
    assert.deepEqual(
      [await statusOf(url, driver), await statusOf(url, "x".repeat(43)), await statusOf(url, ownToken(env))],
      [403, 401, 101],
    );
    const plain = await serve();
    assert.equal(await statusOf(plain.url, ownToken(plain.env)), 400);
  });

  it("ends what a client has left behind, answers what is no JSON or nested too deeply, and ends with 1001 when the server does", async () => {
    const { url, env, server } = await serve("--acp");
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${ownToken(env)}` } });
    const told: string[] = [];
    socket.on("message", (data) => void told.push(String(data)));
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    await new Promise((resolve) => socket.on("open", resolve));
    socket.send("no json");
    socket.send(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":${"[".repeat(9_999)}${"]".repeat(9_999)}}`);
    await eventually(() => told.filter((text) => text.includes("-32700")).length === 2, "both are answered");
    server.child.kill("SIGTERM");
    assert.equal(await closed, 1001);
    await server.done;
  });
});
