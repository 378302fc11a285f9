import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { McpServers } from "./mcp-servers.ts";
import type { McpServerState } from "./server-state.ts";
import { parseMcpServers } from "./server-config.ts";

let folder: string;
let web: Server;
let address: string;

/** Says who it is, and then does as its first word says. */
const server = `
  import { createInterface } from "node:readline";
  const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    if (method === "tools/list" && process.argv[2] !== "never-lists")
      say(id, { tools: [{ name: "work", inputSchema: { type: "object" } }] });
    if (method === "tools/call" && process.argv[2] === "dies") process.exit(7);
    if (method === "tools/call" && process.argv[2] === "says-nothing") console.log(JSON.stringify({ jsonrpc: "2.0", id }));
    if (method === "tools/call" && process.argv[2] === "storms") say(id, { content: [{ type: "text", text: "worked" }] });
    if (method === "tools/list" && process.argv[2] === "storms")
      setInterval(() => { for (let n = 0; n < 100; n++) console.log('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'); }, 5);
  });`;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "outrider-bad-mcp-"));
  writeFileSync(join(folder, "server.mjs"), server);
  web = createServer((request, response) => {
    if (request.url === "/401") response.writeHead(401).end("no");
    else if (request.url === "/500") response.writeHead(500).end("x".repeat(100_000));
    else if (request.url === "/html") response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    else if (request.url === "/drip") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => response.write(": x\n\n"), 100);
      response.on("close", () => clearInterval(timer));
    } // anything else is never answered
  });
  await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
after(() => {
  web.closeAllConnections();
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(
  config: object,
  connectTimeoutMs = 60_000,
): Promise<{ mcp: McpServers; state: McpServerState; ms: number }> {
  const mcp = new McpServers({ cwd: folder, env: { PATH: process.env["PATH"] ?? "" }, connectTimeoutMs });
  const startedAt = performance.now();
  try {
    await mcp.connect(parseMcpServers({ s: config }, { source: "a test", env: {} }));
    const [state] = mcp.states;
    assert.ok(state);
    return { mcp, state, ms: performance.now() - startedAt };
  } finally {
    after(() => mcp.close());
  }
}

const program = (word: string): object => ({ command: process.execPath, args: [join(folder, "server.mjs"), word] });

describe("a server that is none", () => {
  // None of these waits for the sixty seconds that it has.
  const cases: [string, () => object, "failed" | "needs-auth", RegExp][] = [
    [
      "ends at once",
      () => shell("echo no licence >&2; exit 3"),
      "failed",
      /\(it ended with exit code 3, and said: no licence\)$/,
    ],
    [
      "falls over",
      () => ({ command: process.execPath, args: ["-e", "throw new TypeError('no such tool')"] }),
      "failed",
      /and said: TypeError: no such tool\)$/,
    ],
    ["ends well", () => shell("sleep 0.2"), "failed", /\(it ended with exit code 0\)$/],
    ["is killed", () => shell("sleep 0.2; kill -9 $$"), "failed", /\(it was ended by SIGKILL\)$/],
    ["prints on and on", () => shell("yes garbage"), "failed", /\(it prints what is no message: garbage\)$/],
    ["prints what only looks like JSON", () => shell("yes '{'"), "failed", /\(it prints what is no message: \{\)$/],
    ["wants to know who asks", () => ({ url: `${address}/401` }), "needs-auth", /^HTTP 401: /],
    ["answers with a page of trouble", () => ({ url: `${address}/500` }), "failed", /^HTTP 500: .{900,1000}…$/],
    ["is a web site", () => ({ url: `${address}/html` }), "failed", /text\/html/],
    ["is not there", () => ({ url: "http://127.0.0.1:1/mcp" }), "failed", /^fetch failed: (bad port|connect ECONNREFUSED)/],
  ];
  for (const [what, config, status, error] of cases)
    it(`is told apart without a wait: one that ${what}`, async () => {
      const { state, ms } = await connect(config());
      assert.equal(state.status, status, state.error);
      assert.match(state.error ?? "", error);
      assert.ok(ms < 30_000, `${ms} ms`);
    });

  for (const [what, config] of [
    ["is a program that says nothing", () => shell("sleep 300")],
    ["never lists its tools", () => program("never-lists")],
    ["is an address that never answers", () => ({ url: `${address}/hang` })],
    ["drips", () => ({ url: `${address}/drip` })],
    ["drips in the older form", () => ({ type: "sse", url: `${address}/drip` })],
  ] as [string, () => object][])
    it(`costs no more than its time: one that ${what}`, async () => {
      const { state, ms } = await connect(config(), 1_000);
      assert.deepEqual([state.status, state.error], ["failed", "it did not answer within 1000 ms"]);
      assert.ok(ms < 15_000, `${ms} ms`);
    });
});

describe("a server that was one", () => {
  it("fails the call in which it dies, and is reached again", async () => {
    const { mcp, state } = await connect(program("dies"));
    assert.equal(state.status, "connected");
    await assert.rejects(mcp.call("mcp__s__work", {}, new AbortController().signal), /closed/);
    assert.equal(mcp.states[0]?.status, "pending");
    assert.match(mcp.states[0]?.error ?? "", /tried again/);
  });

  it("fails the call that it answers with nothing", async () => {
    const { mcp } = await connect(program("says-nothing"));
    await assert.rejects(mcp.call("mcp__s__work", {}, new AbortController().signal), /neither a result nor an error/);
    assert.equal(mcp.states[0]?.status, "connected");
  });

  it("is worked with while it says again and again that its tools have changed", async () => {
    const { mcp } = await connect(program("storms"));
    for (let count = 0; count < 20; count++) {
      assert.equal(await mcp.call("mcp__s__work", {}, new AbortController().signal), "worked");
    }
    await mcp.close();
  });

  it("keeps nobody waiting who has given up", async () => {
    const { mcp } = await connect(program("never-answers"));
    await assert.rejects(mcp.call("mcp__s__work", {}, AbortSignal.timeout(200)));
    assert.equal(mcp.states[0]?.status, "connected");
  });
});

/** Not bash: Node's pipes are sockets, and bash takes a socket for a remote login that wants its ~/.bashrc. */
function shell(script: string): object {
  return { command: "sh", args: ["-c", script] };
}
