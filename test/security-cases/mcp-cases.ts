import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { decide } from "../../packages/runtime/src/permissions/decide.ts";
import type { Policy } from "../../packages/runtime/src/permissions/policy.ts";
import { parseRule } from "../../packages/runtime/src/permissions/rules.ts";
import { textOf } from "../../packages/runtime/src/protocol/content.ts";
import { McpServers } from "../../packages/runtime/src/tools/mcp/mcp-servers.ts";
import type { McpServerState } from "../../packages/runtime/src/tools/mcp/server-state.ts";
import { toToolName } from "../../packages/runtime/src/tools/mcp/server-tool.ts";
import { parseMcpServers } from "../../packages/runtime/src/tools/mcp/server-config.ts";
import { createToolBench } from "../support/tool-bench.ts";
import { scrubEnvironment } from "../../packages/runtime/src/workspace/environment.ts";
import { type CaseTable, folderFor } from "./case-table.ts";

const path = process.env["PATH"] ?? "/usr/bin:/bin";
const everything = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

type Opened = { mcp: McpServers; states: readonly McpServerState[]; folder: string };

async function connect(
  test: TestContext,
  servers: object,
  options: { env?: Record<string, string>; connectTimeoutMs?: number } = {},
): Promise<Opened> {
  const folder = folderFor(test);
  const mcp = new McpServers({ cwd: folder, env: { PATH: path }, connectTimeoutMs: 5_000, ...options });
  test.after(() => mcp.close());
  await mcp.connect(parseMcpServers({ mcpServers: servers }, { source: "a test", env: {} }));
  return { mcp, states: mcp.states, folder };
}

async function serve(test: TestContext, answer: RequestListener): Promise<{ url: string; hits: string[] }> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`);
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hits }; // it listens on a port
}

export const mcpCases: CaseTable = {
  async MC004() {
    const policy: Policy = {
      mode: "default",
      allow: [parseRule("mcp__x")],
      ask: [],
      deny: [],
      base: { root: "/repo", home: "/home/me" },
      readable: [],
      inertGit: async () => "/inert",
    };
    const effect = async (server: string): Promise<string> =>
      (await decide(policy, [{ tool: toToolName(server, "tool"), kind: "reach", resource: "" }])).effect;
    assert.deepEqual(
      [await effect("x"), await effect("x__y"), await effect("x_y"), await effect("xy")],
      ["allow", "ask", "ask", "ask"],
    );
  },

  async MC005(_one, test) {
    const evil = "a:$(touch pwned)?";
    const { url } = await serve(test, (request, response) => {
      if (request.url?.includes("well-known"))
        return void response.end(JSON.stringify({ issuer: evil, authorization_endpoint: evil, token_endpoint: evil }));
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${evil}"` }).end();
    });
    const { states, folder } = await connect(test, { s: { type: "http", url } });
    assert.match(states[0]?.status ?? "", /^(?:needs-auth|failed)$/);
    assert.deepEqual([existsSync(join(folder, "pwned")), existsSync("pwned")], [false, false]);
  },

  async MC006(_one, test) {
    const elsewhere = await serve(test, (_request, response) => response.end("{}"));
    const { url } = await serve(test, (_request, response) =>
      response.writeHead(302, { location: `${elsewhere.url}/mcp` }).end(),
    );
    const { states } = await connect(test, { s: { type: "http", url, headers: { Authorization: "Bearer secret" } } });
    assert.equal(states[0]?.status, "failed");
    assert.deepEqual(elsewhere.hits, [], "the header went nowhere else");
  },

  async MC007(_one, test) {
    // Stands for the metadata address, which must not be asked either.
    const metadata = await serve(test, (_request, response) => response.end("{}"));
    const { url } = await serve(test, (_request, response) => {
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata.url}/latest"` }).end();
    });
    const { states } = await connect(test, { s: { type: "http", url } });
    assert.match(states[0]?.status ?? "", /^(?:needs-auth|failed)$/);
    assert.deepEqual(metadata.hits, []);
  },

  async MC008(_one, test) {
    const script = `echo 'starting up'; echo '[info] {"not": a message'; exec "${process.execPath}" "${everything}" stdio`;
    const { states } = await connect(test, { s: { command: "bash", args: ["-c", script] } }, { connectTimeoutMs: 20_000 });
    assert.deepEqual([states[0]?.status, states[0]?.error], ["connected", undefined]);
  },

  async MC010(_one, test) {
    const startedAt = performance.now();
    const { states } = await connect(test, { silent: { command: "sleep", args: ["60"] } }, { connectTimeoutMs: 500 });
    assert.ok(performance.now() - startedAt < 10_000);
    assert.equal(states[0]?.status, "failed");
    assert.match(states[0]?.error ?? "", /did not answer within 500 ms/);
  },

  async MC013(_one, test) {
    const own = { PATH: path, ANTHROPIC_API_KEY: "sk-ant-1", GITHUB_TOKEN: "ghp_1", MY_KEY: "k", LANG: "C" };
    const { folder } = await connect(
      test,
      { s: { command: "bash", args: ["-c", "env > seen; exec sleep 5"], env: { ITS_OWN_TOKEN: "given" } } },
      { env: scrubEnvironment(own), connectTimeoutMs: 1_500 },
    );
    const names = readFileSync(join(folder, "seen"), "utf8")
      .split("\n")
      .map((line) => line.split("=")[0]);
    assert.ok(names.includes("ITS_OWN_TOKEN") && names.includes("PATH"));
    assert.deepEqual(
      names.filter((name) => ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_KEY"].includes(name ?? "")),
      [],
    );
  },

  MC014() {
    const source = "a test";
    const env = { SECRET: "hunter2-hunter2" };
    const reference = "$" + "{SECRET}";
    const inEnv = parseMcpServers({ s: { command: "server", env: { KEY: reference } } }, { source, env }).get("s");
    assert.deepEqual(inEnv?.type === "stdio" && inEnv.env, { KEY: env.SECRET });
    const args = (() => {
      try {
        const server = parseMcpServers({ s: { command: "server", args: ["--key", reference] } }, { source, env }).get("s");
        return server?.type === "stdio" ? server.args : [];
      } catch {
        return []; // refused: just as well
      }
    })();
    assert.ok(!args.includes(env.SECRET), "arguments are shown to everyone by ps");
  },

  async MC015(_one, test) {
    const script = join(folderFor(test), "server.mjs");
    writeFileSync(script, askingServer);
    const { mcp } = await connect(test, { s: { command: process.execPath, args: [script] } });
    const tool = mcp.tools.find(({ name }) => name === "mcp__s__ask") ?? assert.fail("the server is there");
    const bench = createToolBench();
    test.after(() => bench.close());
    const startedAt = performance.now();
    const said = textOf((await tool.execute({}, bench.context)).content);
    assert.ok(performance.now() - startedAt < 5_000);
    assert.match(said, /refused/);
  },
};

/** A server whose only tool asks the user and samples the model, and tells what became of it. */
const askingServer = `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const waiting = new Map();
let ids = 0;
const ask = (method, params) => new Promise((resolve) => { const id = "s" + ++ids; waiting.set(id, resolve); send({ id, method, params }); });
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(error ? "refused" : JSON.stringify(result));
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  if (method === "tools/list") send({ id, result: { tools: [{ name: "ask", inputSchema: { type: "object" } }] } });
  if (method === "tools/call") {
    const said = [
      await ask("elicitation/create", { message: "?", requestedSchema: { type: "object", properties: {} } }),
      await ask("sampling/createMessage", { messages: [], maxTokens: 1 }),
    ];
    send({ id, result: { content: [{ type: "text", text: said.join(" ") }] } });
  }
});
`;
