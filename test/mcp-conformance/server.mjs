// The MCP server of the built library on a port of its own, for the suite; it prints its address.
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const dist = join(process.env.OUTRIDER_ROOT, "packages/runtime/dist");
const { createScriptedProvider, SessionHost } = await import(pathToFileURL(join(dist, "index.js")).href);
const { createMcpEndpoint, createMcpHost } = await import(pathToFileURL(join(dist, "mcp-server.js")).href);

const cwd = mkdtempSync(join(tmpdir(), "outrider-mcp-conformance-"));
const provider = createScriptedProvider([]);
const host = new SessionHost({ defaults: { provider, bare: true, persistent: false } });
const endpoint = createMcpEndpoint(createMcpHost({ host, cwd, version: "0.0.0" }));

const server = createServer(async (incoming, outgoing) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = incoming.method === "POST" ? Buffer.concat(chunks) : undefined;
  const response = await endpoint.fetch(
    new Request(`http://127.0.0.1${incoming.url}`, { method: incoming.method, headers: incoming.headers, body }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body) for await (const chunk of response.body) outgoing.write(chunk);
  outgoing.end();
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
