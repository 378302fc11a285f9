import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Readable } from "node:stream";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { askHeadersHelper } from "./headers-helper.ts";
import { McpServers } from "./mcp-servers.ts";
import { parseMcpServers } from "./server-config.ts";

const env = { PATH: process.env["PATH"] ?? "" };
const folder = mkdtempSync(join(tmpdir(), "outrider-headers-"));
const seen: string[] = [];
let url = "";

const handler = createMcpHandler(() => new McpServer({ name: "s", version: "1" }, { capabilities: { tools: {} } }));
const web = createServer(async (request, response) => {
  seen.push(`${request.headers.authorization} ${request.headers["x-kept"]}`);
  if (request.headers.authorization !== "Bearer FX 1") return void response.writeHead(401).end();
  const asked = new Request(`${url}${request.url}`, {
    method: request.method ?? "GET",
    headers: request.headers as Record<string, string>,
    ...(request.method === "POST" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
  } as RequestInit);
  const answer = await handler.fetch(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
});

before(async () => {
  await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
after(() => {
  web.closeAllConnections();
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (command: string) => askHeadersHelper(command, { name: "s", url: "http://x/", cwd: folder, env });

describe("the helper for headers", () => {
  it("is asked when a connection is made, knows for which, and its headers go before the written ones", async () => {
    const command = `printf '{"Authorization": "Bearer FX 1"}'; echo "$CLAUDE_CODE_MCP_SERVER_NAME $CLAUDE_CODE_MCP_SERVER_URL" >> asked.txt`;
    const mcp = new McpServers({ cwd: folder, env });
    const config = { type: "http", url, headers: { Authorization: "old", "X-Kept": "yes" }, headersHelper: command };
    await mcp.connect(parseMcpServers({ s: config }, { source: "a test", env: {} }));
    assert.equal(mcp.states[0]?.status, "connected", mcp.states[0]?.error);
    await mcp.close();
    assert.deepEqual([...new Set(seen)], ["Bearer FX 1 yes"]);
    assert.match(readFileSync(join(folder, "asked.txt"), "utf8"), new RegExp(`^(?:s ${url}\n)+$`));
  });

  it("fails its server and no other when it fails, without telling what it printed", async () => {
    const cases: [string, RegExp][] = [
      ["echo FX-secret; echo sorry >&2; exit 3", /ended with exit code 3 and said: sorry$/],
      ["echo FX-secret", /must print an object of texts/],
      [`echo '{"a": 7}'`, /must print an object of texts/],
      [`printf '{"a b": "FX-secret"}'`, /printed a header "a b" that cannot be sent/],
    ];
    for (const [command, expected] of cases)
      await assert.rejects(ask(command), ({ message }: Error) => {
        assert.match(message, expected);
        return !message.includes("FX-secret");
      });
  });

  it("leaves nothing running behind", async () => {
    assert.deepEqual(await ask("(sleep 600 & echo $! > child.pid) >/dev/null 2>&1; printf '{}'"), {});
    const child = readFileSync(join(folder, "child.pid"), "utf8").trim();
    const state = existsSync(`/proc/${child}/stat`) ? readFileSync(`/proc/${child}/stat`, "utf8") : "";
    assert.ok(state === "" || / Z /.test(state), state);
  });

  it("gets variables by the shell, and written into its line only what cannot change it", () => {
    const written = (value: string): unknown => {
      const env = { PLACE: value };
      return parseMcpServers(
        { s: { type: "http", url: "http://x/", headersHelper: `\${PLACE}/helper` } },
        { source: "a test", env },
      ).get("s");
    };
    assert.match(JSON.stringify(written("/plain/path")), /"headersHelper":"\/plain\/path\/helper"/);
    assert.match(JSON.stringify(written("/a; touch x")), /"headersHelper":"\$\{PLACE\}\/helper"/);
    assert.throws(
      () => parseMcpServers({ s: { type: "http", url: "http://x/", headersHelper: 7 } }, { source: "a test", env }),
      /headersHelper must be/,
    );
  });
});
