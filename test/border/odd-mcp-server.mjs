// An MCP server whose tools are named, described and answered as odd servers do it. Over stdio, or over HTTP with the word `http`.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString("base64");
const words = (text) => ({ content: [{ type: "text", text }] });
const picture = (mimeType, data) => ({ content: [{ type: "image", mimeType, data }] });
const megabytes = 1024 * 1024;

/** By name: what the list says of it, and what it answers. */
const tools = {
  surrogate: [{ inputSchema: { type: "object" } }, () => words("half \ud83d a character, and \udc00")],
  bare: [{}, () => words("no schema")],
  "a.b": [{ inputSchema: { type: "object" } }, () => words("dot")],
  a_b: [{ inputSchema: { type: "object" } }, () => words("underscore")],
  "a/b": [{ inputSchema: { type: "object" } }, () => words("slash")],
  検索: [{ inputSchema: { type: "object" } }, () => words("search")],
  計算: [{ inputSchema: { type: "object" } }, () => words("count")],
  either: [
    {
      inputSchema: {
        type: "object",
        anyOf: [
          { properties: { path: { type: "string" } }, required: ["path"] },
          { properties: { url: { type: "string" } }, required: ["url"] },
        ],
      },
    },
    (input) => words(JSON.stringify(input)),
  ],
  keys: [
    { inputSchema: { type: "object", properties: { $файл: { type: "string" } }, required: ["$файл"] } },
    (input) => words(JSON.stringify(input)),
  ],
  misfit: [
    { inputSchema: { type: "object" }, outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    () => ({ ...words("the words"), structuredContent: { n: "seven" } }),
  ],
  unknown: [
    { inputSchema: { type: "object" } },
    () => ({
      content: [
        { type: "text", text: "before" },
        { type: "video", data: "AAAA" },
        { type: "text", text: "after" },
      ],
    }),
  ],
  svg: [{ inputSchema: { type: "object" } }, () => picture("image/svg+xml", svg)],
  empty: [{ inputSchema: { type: "object" } }, () => picture("image/png", "")],
  liar: [{ inputSchema: { type: "object" } }, () => picture("image/jpeg", png)],
  huge: [{ inputSchema: { type: "object" } }, () => words(`begins\n${"0123456789abcde\n".repeat((200 * megabytes) / 16)}ends`)],
};

function answer({ id, method, params }) {
  const of = (result) => ({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize":
      return of({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "odd", version: "1" },
      });
    case "tools/list":
      return of({ tools: [{ title: "nameless" }, ...Object.entries(tools).map(([name, [facts]]) => ({ name, ...facts }))] });
    case "tools/call":
      return of(tools[params.name][1](params.arguments));
    default:
      return id === undefined ? undefined : of({});
  }
}

if (process.argv[2] !== "http") {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = answer(JSON.parse(line));
    if (message) process.stdout.write(`${JSON.stringify(message)}\n`);
  });
} else {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = answer(JSON.parse(body));
    if (!message) return response.writeHead(202).end();
    if (request.url === "/sse") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.end(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
  });
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
}
