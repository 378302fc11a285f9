import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { summarize } from "./statistics.mjs";

const toolsEach = 25;
/** As long as a program of Node takes until it is a server. */
const startMs = 300;

/** Twenty servers with 500 tools, against one of them with 25: from the first line of the library to the last tool. */
export async function measureServers({ node, quick }) {
  const server = await startServers();
  const { port } = server.address();
  const one = [];
  const twenty = [];
  for (let round = 0; round < (quick ? 3 : 11); round++) {
    one.push(await connect(node, port, 1));
    twenty.push(await connect(node, port, 20));
  }
  server.closeAllConnections();
  server.close();
  const floor = summarize(one);
  const ours = summarize(twenty);
  const ratio = ours.median / floor.median;
  const what = `connect to 20 MCP servers with ${20 * toolsEach} tools, against one with ${toolsEach}`;
  return { name: "mcp-servers", what, unit: "ms", floor, ours, ratio, target: 1.5, ok: ratio <= 1.5 };
}

function connect(node, port, count) {
  const child = spawn(node, [join(import.meta.dirname, "mcp-servers-child.mjs"), String(port), String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on("close", () => {
      const { ms, tools } = JSON.parse(output);
      if (tools === count * toolsEach) resolve(ms);
      else reject(new Error(`${tools} tools instead of ${count * toolsEach}`));
    });
  });
}

/** All of them in one process, told apart by their address. */
function startServers() {
  const schema = { type: "object", properties: { value: { type: "string", description: "What to do it with" } } };
  const tools = Array.from({ length: toolsEach }, (_, index) => ({
    name: `tool_${index}`,
    description: "Does something",
    inputSchema: schema,
  }));
  const hello = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1" } };
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    if (id === undefined) return void response.writeHead(202).end();
    const result = method === "initialize" ? hello : { tools };
    setTimeout(
      () => {
        const text = JSON.stringify({ jsonrpc: "2.0", id, result });
        response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
      },
      method === "initialize" ? startMs : 0,
    );
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
