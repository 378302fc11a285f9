// How long it takes until the tools of servers are there: node mcp-servers-child.mjs PORT COUNT. Prints JSON.
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [port, count] = process.argv.slice(2).map(Number);
const startedAt = performance.now();
const library = join(dirname(import.meta.dirname), "packages/runtime/dist/mcp.js");
const { McpServers, parseMcpServers } = await import(pathToFileURL(library).href);
const entries = Array.from({ length: count }, (_, index) => [`s${index}`, { url: `http://127.0.0.1:${port}/${index}` }]);
const mcp = new McpServers({ cwd: process.cwd(), env: {} });
await mcp.connect(parseMcpServers(Object.fromEntries(entries), { source: "bench", env: {} }));
const tools = mcp.tools.filter(({ name }) => name.startsWith("mcp__")).length;
const ms = performance.now() - startedAt;
await mcp.close();
console.log(JSON.stringify({ ms, tools }));
