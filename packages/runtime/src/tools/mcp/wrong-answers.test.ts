import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { McpServers } from "./mcp-servers.ts";
import { parseMcpServers } from "./server-config.ts";

/** What stands for the answer to a call, as it goes over the wire. `ID` is the id of the call. */
type Wrong = { readonly what: string; readonly answer: string; readonly told: RegExp; readonly not?: readonly Way[] };
type Way = "stdio" | "http" | "events" | "sse";

const text = '{"content":[{"type":"text","text":"late"}]}';

const wrongs: readonly Wrong[] = [
  { what: "no JSON", answer: '{"jsonrpc":"2.0","id":ID,"resu', told: /no JSON/, not: ["stdio"] },
  { what: "no message", answer: '"hello"', told: /no message|no JSON/, not: ["stdio"] },
  { what: "no result", answer: '{"jsonrpc":"2.0","id":ID}', told: /neither a result nor an error/ },
  {
    what: "a result that is no object",
    answer: '{"jsonrpc":"2.0","id":ID,"result":[1]}',
    told: /a result that is no object: \[1\]/,
  },
  { what: "an error that is a text", answer: '{"jsonrpc":"2.0","id":ID,"error":"broken"}', told: /broken/ },
  { what: "an error without a code", answer: '{"jsonrpc":"2.0","id":ID,"error":{"message":"no code"}}', told: /no code/ },
  {
    what: "an error for nobody",
    answer: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot parse"}}',
    told: /cannot parse/,
  },
  { what: "an id that nobody has", answer: `{"jsonrpc":"2.0","id":"zzz","result":${text}}`, told: /another request/ },
  { what: "an id to come", answer: `{"jsonrpc":"2.0","id":9999,"result":${text}}`, told: /another request/ },
];

const goods: readonly { readonly what: string; readonly answer: string }[] = [
  {
    what: "the version of another protocol",
    answer: '{"jsonrpc":"1.0","id":ID,"result":{"content":[{"type":"text","text":"worked"}]}}',
  },
  { what: "its id as a text", answer: '{"id":"ID","result":{"content":[{"type":"text","text":"worked"}]}}' },
  {
    what: "a null beside its result",
    answer: '{"jsonrpc":"2.0","id":ID,"error":null,"result":{"content":[{"type":"text","text":"worked"}]}}',
  },
];

let folder: string;
let address: string;
const web = createServer((request, response) => void answer(request, response));

/** A program that answers a call with its second word. */
const program = `
  import { createInterface } from "node:readline";
  const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    if (method === "tools/list") say(id, { tools: [{ name: "work", inputSchema: { type: "object" } }] });
    if (method === "tools/call") console.log(process.argv[2].replaceAll("ID", id));
  });`;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "outrider-wrong-answers-"));
  writeFileSync(join(folder, "server.mjs"), program);
  await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
after(() => {
  web.closeAllConnections();
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

const streams = new Map<string, ServerResponse>();

/** The address says the way and the answer: `/events?…`. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "", address);
  const way = url.pathname.slice(1) as Way;
  if (request.method !== "POST") {
    if (way !== "sse") return void response.writeHead(405).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).write(`event: endpoint\ndata: ${request.url}\n\n`);
    return void streams.set(url.search, response);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
  if (id === undefined) return void response.writeHead(202).end();
  const hello = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  const result = method === "initialize" ? hello : { tools: [{ name: "work", inputSchema: { type: "object" } }] };
  const wrong = url.searchParams.get("answer") ?? "";
  const said = method === "tools/call" ? wrong.replaceAll("ID", id) : JSON.stringify({ jsonrpc: "2.0", id, result });
  if (way === "http") return void response.writeHead(200, { "content-type": "application/json" }).end(said);
  if (way === "sse") {
    response.writeHead(202).end();
    return void streams.get(url.search)?.write(`data: ${said}\n\n`);
  }
  response.writeHead(200, { "content-type": "text/event-stream" }).write(`event: message\ndata: ${said}\n\n`);
  // The stream stays open: who waits for its end waits for ever.
}

async function call(way: Way, answer: string): Promise<string> {
  const url = `${address}/${way}?answer=${encodeURIComponent(answer)}`;
  const http = { type: way === "sse" ? "sse" : "http", url };
  const config = way === "stdio" ? { command: process.execPath, args: [join(folder, "server.mjs"), answer] } : http;
  const mcp = new McpServers({ cwd: folder, env: { PATH: process.env["PATH"] ?? "" }, connectTimeoutMs: 60_000 });
  try {
    await mcp.connect(parseMcpServers({ s: config }, { source: "a test", env: {} }));
    assert.equal(mcp.states[0]?.status, "connected", mcp.states[0]?.error);
    return await mcp.call("mcp__s__work", {}, AbortSignal.timeout(10_000));
  } finally {
    await mcp.close();
  }
}

for (const way of ["stdio", "http", "events", "sse"] as const)
  describe(`an answer over ${way}`, { timeout: 120_000 }, () => {
    for (const { what, answer, told, not = [] } of wrongs)
      if (!not.includes(way))
        it(`that has ${what} fails its call without a wait`, async () => {
          await assert.rejects(call(way, answer), told);
        });
    for (const { what, answer } of goods)
      it(`is taken with ${what}`, async () => assert.equal(await call(way, answer), "worked"));
  });
