import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { eventually } from "../../../../../test/support/subagent-stage.ts";
import { McpServers, type McpOptions } from "./mcp-servers.ts";
import { parseMcpServers } from "./server-config.ts";

const everything = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const env = { PATH: process.env["PATH"] ?? "" };
const { signal } = new AbortController();
let folder: string;

before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-ways-")));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A server over stdio of a few lines: answers what it is told to, and writes down what it is asked. */
function program(name: string, body: string): { command: string; args: string[] } {
  const path = join(folder, `${name}.mjs`);
  const text = `
    import { appendFileSync } from "node:fs";
    import { createInterface } from "node:readline";
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const tool = (name) => ({ name, inputSchema: { type: "object" } });
    const note = (line) => appendFileSync(${JSON.stringify(join(folder, `${name}.log`))}, line + "\\n");
    const hello = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
    note("start");
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => say({ id, result });
      note(method ?? "answer");
      ${body}
    }`;
  writeFileSync(path, text);
  return { command: process.execPath, args: [path] };
}

const logOf = (name: string): string[] =>
  readFileSync(join(folder, `${name}.log`), "utf8")
    .trim()
    .split("\n");

async function withServer(
  server: unknown,
  body: (mcp: McpServers) => Promise<void>,
  options: Partial<McpOptions> = {},
): Promise<void> {
  const mcp = new McpServers({ cwd: folder, env, retryDelaysMs: [10, 10, 10], ...options });
  try {
    await mcp.connect(parseMcpServers({ s: server }, { source: "a test", env: {} }));
    await body(mcp);
  } finally {
    await mcp.close();
  }
}

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function modernServer(): McpServer {
  const server = new McpServer({ name: "new", version: "1.0.0" });
  server.registerTool("greet", { description: "Greets" }, async () => ({ content: [{ type: "text", text: "hello, modern" }] }));
  return server;
}

describe("ways to a server", { timeout: 60_000 }, () => {
  it("a server over HTTP that speaks only the protocol of 2026-07-28 is spoken to in it", async () => {
    const handler = createMcpHandler(modernServer, { legacy: "reject" });
    const url = await listening(async (request, response) => {
      const body = await bodyOf(request);
      const asked = new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(body !== "" && { body }),
      });
      const answer = await handler.fetch(asked);
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
      else response.end();
    });
    await withServer({ url }, async (mcp) => {
      assert.deepEqual([mcp.states[0]?.status, mcp.states[0]?.protocolVersion], ["connected", "2026-07-28"]);
      assert.equal(await mcp.call("mcp__s__greet", {}, signal), "hello, modern");
    });
  });

  it("so is one that is a program", async () => {
    const path = join(folder, "modern.mjs");
    const from = (name: string): string => JSON.stringify(resolve("node_modules/@modelcontextprotocol/server/dist", name));
    writeFileSync(
      path,
      `import { McpServer } from ${from("index.mjs")}; import { serveStdio } from ${from("stdio.mjs")};
       serveStdio(() => {
         const server = new McpServer({ name: "new", version: "1.0.0" });
         server.registerTool("greet", {}, async () => ({ content: [{ type: "text", text: "hello, modern" }] }));
         return server;
       }, { legacy: "reject" });`,
    );
    await withServer({ command: process.execPath, args: [path] }, async (mcp) => {
      assert.deepEqual([mcp.states[0]?.status, mcp.states[0]?.error], ["connected", undefined]);
      assert.equal(await mcp.call("mcp__s__greet", {}, signal), "hello, modern");
    });
  });

  /** A server of the older form of HTTP, whose answers come in the stream that was opened last. */
  async function olderServer(): Promise<{ url: string; streams: ServerResponse[] }> {
    const streams: ServerResponse[] = [];
    const url = await listening(async (request, response) => {
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("event: endpoint\ndata: /messages\n\n");
        streams.push(response);
        return;
      }
      if (request.url !== "/messages") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(await bodyOf(request));
      response.writeHead(202).end();
      const results: Record<string, object> = {
        initialize: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } },
        "tools/list": { tools: [{ name: "old", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: `in stream ${streams.length}` }] },
      };
      const message = { jsonrpc: "2.0", id, result: results[method] };
      if (id !== undefined) streams.at(-1)?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    });
    return { url, streams };
  }

  it("a server that knows only the older form of HTTP is reached by it", async () => {
    const { url } = await olderServer();
    await withServer({ type: "http", url }, async (mcp) => {
      assert.deepEqual(
        mcp.tools.map(({ name }) => name),
        ["mcp__s__old"],
      );
    });
  });

  it("it is introduced to again when its stream ends", async () => {
    const { url, streams } = await olderServer();
    await withServer({ type: "sse", url }, async (mcp) => {
      assert.equal(await mcp.call("mcp__s__old", {}, signal), "in stream 1");
      streams.at(-1)?.end();
      await eventually(() => mcp.states[0]?.status === "pending" || streams.length > 1);
      assert.equal(await mcp.call("mcp__s__old", {}, signal), "in stream 2");
    });
  });

  it("an address of a web page is told in a sentence, not with the page", async () => {
    const page = `<!DOCTYPE html><html><head><title>Not here</title></head><body>${"x".repeat(5_000)}</body></html>`;
    const url = await listening((_, response) => response.writeHead(404, { "content-type": "text/html" }).end(page));
    await withServer({ url }, async (mcp) => {
      const { error = "" } = mcp.states[0] ?? {};
      assert.match(error, /^HTTP 404: .*web page \(“Not here”\)/);
      assert.ok(error.length < 300, error);
    });
  });

  it("a server over HTTP that has forgotten the session is introduced to again, the call is made once more, and the session is ended", async () => {
    const seen: string[] = [];
    let sessions = 0;
    const url = await listening(async (request, response) => {
      const session = request.headers["mcp-session-id"];
      if (request.method !== "POST") {
        seen.push(`${request.method} ${session}`);
        return void response.writeHead(request.method === "DELETE" ? 204 : 405).end();
      }
      const { id, method } = JSON.parse(await bodyOf(request));
      seen.push(`${method} ${session ?? "-"}`);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "tools/call" && session === "1") return void response.writeHead(404).end("no such session");
      const results: Record<string, unknown> = {
        initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
        "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "done" }] },
      };
      const headers = {
        "content-type": "application/json",
        ...(method === "initialize" && { "mcp-session-id": `${++sessions}` }),
      };
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
    });
    await withServer({ url }, async (mcp) => {
      assert.equal(await mcp.call("mcp__s__t", {}, signal), "done");
    });
    const calls = seen.filter((line) => /call|DELETE|^init/.test(line));
    assert.deepEqual(calls, ["initialize -", "tools/call 1", "initialize -", "tools/call 2", "DELETE 2"]);
  });
});

describe("a server that goes away", { timeout: 60_000 }, () => {
  const answers = `
    if (method === "initialize") answer(hello);
    if (method === "tools/list") answer({ tools: [tool("work"), tool("die")] });
    if (method === "tools/call" && params.name === "die") process.exit(1);
    if (method === "tools/call") answer({ content: [{ type: "text", text: "worked" }] });`;

  it("costs the call that was under way, and is there for the next one", async () => {
    let changes = 0;
    const onToolsChanged = (): void => void changes++;
    await withServer(
      program("mortal", answers),
      async (mcp) => {
        await assert.rejects(mcp.call("mcp__s__die", {}, signal));
        assert.equal(mcp.tools.length, 2); // for the model nothing has changed
        assert.equal(await mcp.call("mcp__s__work", {}, signal), "worked");
        assert.deepEqual([mcp.states[0]?.status, mcp.states[0]?.error], ["connected", undefined]);
        assert.equal(changes, 1);
      },
      { onToolsChanged },
    );
    assert.equal(logOf("mortal").filter((line) => line === "start").length, 2);
  });

  it("is given up when it goes away again and again", async () => {
    const dies = `if (method === "initialize") answer(hello); if (method === "tools/list") { answer({ tools: [tool("t")] }); setTimeout(() => process.exit(3), 20); }`;
    await withServer(program("sick", dies), async (mcp) => {
      await eventually(() => mcp.states[0]?.status === "failed");
      assert.deepEqual(mcp.tools, []);
      assert.equal(logOf("sick").filter((line) => line === "start").length, 4); // the first, and one for each delay
      await assert.rejects(mcp.call("mcp__s__t", {}, signal), /not there/);
    });
  });

  it("leaves the others alone", async () => {
    const mcp = new McpServers({ cwd: folder, env, retryDelaysMs: [] });
    const other = { command: process.execPath, args: [everything, "stdio"] };
    try {
      await mcp.connect(parseMcpServers({ s: program("alone", answers), other }, { source: "a test", env: {} }));
      await assert.rejects(mcp.call("mcp__s__die", {}, signal));
      await eventually(() => mcp.states[0]?.status === "failed");
      assert.match(await mcp.call("mcp__other__echo", { message: "still here" }, signal), /still here/);
    } finally {
      await mcp.close();
    }
  });
});

describe("what is written of a server", () => {
  const whereAmI = `
    if (method === "initialize") answer(hello);
    if (method === "tools/list") answer({ tools: [tool("where")] });
    if (method === "tools/call") answer({ content: [{ type: "text", text: process.cwd() }] });`;

  it("cwd is where it starts", async () => {
    const cwd = join(folder, "elsewhere");
    mkdirSync(cwd);
    await withServer({ ...program("where", whereAmI), cwd }, async (mcp) => {
      assert.equal(await mcp.call("mcp__s__where", {}, signal), cwd);
    });
  });

  it("disabled: true keeps it from being started, until it is switched on", async () => {
    await withServer({ ...program("off", whereAmI), disabled: true }, async (mcp) => {
      assert.deepEqual([mcp.states[0]?.status, mcp.tools.length], ["disabled", 0]);
      assert.equal(await mcp.toggle("s", true), true);
      assert.deepEqual([mcp.states[0]?.status, mcp.tools.length], ["connected", 1]);
    });
  });

  it("servers may stand under VS Code's key", () => {
    const inner = { a: { command: "x" } };
    const names = [{ mcpServers: inner }, { servers: inner, inputs: [] }, inner].map((value) => [
      ...parseMcpServers(value, { source: "a test", env: {} }).keys(),
    ]);
    assert.deepEqual(names, [["a"], ["a"], ["a"]]);
    assert.deepEqual([...parseMcpServers({ servers: { command: "x" } }, { source: "a test", env: {} }).keys()], ["servers"]);
  });
});
