import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { after, describe, it } from "node:test";
import { eventually } from "../../../../../test/support/subagent-stage.ts";
import { McpServers, type McpOptions } from "./mcp-servers.ts";
import { parseMcpServers } from "./server-config.ts";

type Call = { readonly id: number; readonly request: IncomingMessage; readonly response: ServerResponse; readonly count: number };
type Plan = {
  /** What is done with a call. */
  readonly onCall: (call: Call) => void;
  /** With a request for a stream; 405 when absent. */
  readonly onGet?: (request: IncomingMessage, response: ServerResponse, count: number) => void;
};

const events = { "content-type": "text/event-stream" };
const worked = (id: number): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "worked" }] } });

async function withServer(
  plan: Plan,
  body: (mcp: McpServers) => Promise<void>,
  options: Partial<McpOptions> = {},
): Promise<void> {
  let calls = 0;
  let gets = 0;
  const server = createServer(async (request, response) => {
    if (request.method === "GET" && plan.onGet) return plan.onGet(request, response, ++gets);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/call") return plan.onCall({ id, request, response, count: ++calls });
    const capabilities = { tools: { listChanged: true } };
    const hello = { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "s", version: "1" } };
    const result = method === "initialize" ? hello : { tools: [{ name: "work", inputSchema: { type: "object" } }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const end = (): void => {
    server.closeAllConnections();
    server.close();
  };
  after(end);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const mcp = new McpServers({ cwd: tmpdir(), env: {}, ...options });
  try {
    await mcp.connect(parseMcpServers({ s: { type: "http", url } }, { source: "a test", env: {} }));
    assert.equal(mcp.states[0]?.status, "connected", mcp.states[0]?.error);
    await body(mcp);
  } finally {
    await mcp.close();
    end();
  }
}

const call = (mcp: McpServers, signal = AbortSignal.timeout(20_000)): Promise<string> => mcp.call("mcp__s__work", {}, signal);

describe("an exchange over HTTP that goes wrong", { timeout: 120_000 }, () => {
  const ends: readonly (readonly [string, Plan["onCall"], RegExp])[] = [
    ["is taken and not answered", ({ response }) => response.writeHead(202).end(), /gave no answer \(HTTP 202\)/],
    ["has no content", ({ response }) => response.writeHead(204).end(), /gave no answer \(HTTP 204\)/],
    ["is empty", ({ response }) => response.writeHead(200, { "content-type": "application/json" }).end(), /no JSON message/],
    [
      "is an empty list",
      ({ response }) => response.writeHead(200, { "content-type": "application/json" }).end("[]"),
      /nothing that it was asked/,
    ],
    [
      "is a stream without an answer",
      ({ response }) => response.writeHead(200, events).end(": hello\n\n"),
      /ended its answer before it was complete/,
    ],
    [
      "is a stream that breaks off",
      ({ response }) => response.writeHead(200, events).write(": hello\n\n", () => response.destroy()),
      /broke off/,
    ],
    ["breaks off", ({ response }) => response.destroy(), /fetch failed|terminated|socket/],
    ["is a page", ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"), /text\/html/],
    ["is an error of the server", ({ response }) => response.writeHead(500).end("overloaded"), /overloaded/],
    [
      "is moved elsewhere",
      ({ response }) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
      /another origin/,
    ],
    [
      "is moved in a circle",
      ({ request, response }) => response.writeHead(307, { location: request.url }).end(),
      /redirects more than/,
    ],
    ["is moved nowhere", ({ response }) => response.writeHead(307).end(), /./],
    [
      "has the length of another",
      ({ id, response }) =>
        response
          .writeHead(200, { "content-type": "application/json", "content-length": "9999" })
          .write(worked(id), () => response.destroy()),
      /terminated|other side closed|aborted/,
    ],
  ];
  for (const [what, onCall, told] of ends)
    it(`fails the call at once whose answer ${what}`, async () => {
      await withServer({ onCall }, async (mcp) => {
        await assert.rejects(call(mcp), told);
        assert.equal(mcp.states[0]?.status, "connected");
      });
    });

  for (const [what, header] of [
    ["says nothing more", undefined],
    ["names no way in", "Basic realm=x"],
    ["is no header", '="=,Bearer ,,resource_metadata=", '],
    ["points to another machine", 'Bearer resource_metadata="http://127.0.0.1:1/x"'],
    ["points to a file", 'Bearer resource_metadata="file:///etc/passwd"'],
    ["is long", `Bearer ${"x".repeat(8_000)}`],
  ] as const)
    it(`fails the call that is refused with 401 in a way that ${what}`, async () => {
      const onCall: Plan["onCall"] = ({ response }) =>
        response.writeHead(401, header === undefined ? {} : { "www-authenticate": header }).end("no");
      await withServer({ onCall }, async (mcp) => assert.rejects(call(mcp), /401/));
    });

  it("takes a list of messages for what is in it", async () => {
    const onCall: Plan["onCall"] = ({ id, response }) =>
      response
        .writeHead(200, events)
        .end(`data: [{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},${worked(id)}]\n\n`);
    await withServer({ onCall }, async (mcp) => assert.equal(await call(mcp), "worked"));
  });

  it("takes an answer in lines that end like those of another system", async () => {
    const onCall: Plan["onCall"] = ({ id, response }) =>
      response.writeHead(200, events).end(`event: message\r\ndata: ${worked(id).replace(",", ",\r\ndata: ")}\r\n\r\n`);
    await withServer({ onCall }, async (mcp) => assert.equal(await call(mcp), "worked"));
  });

  it("reads no stream on whose answer is there, and the first answer counts", async () => {
    let isClosed = false;
    const onCall: Plan["onCall"] = ({ id, response }) => {
      response.on("close", () => (isClosed = true));
      response.writeHead(200, events).write(`data: ${worked(id)}\n\ndata: ${worked(id).replace("worked", "again")}\n\n`);
      const noise = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${"x".repeat(1_000)}"}}\n\n`;
      const more = (): void => {
        while (!isClosed && response.write(noise));
        if (!isClosed) response.once("drain", more);
      };
      more();
    };
    await withServer({ onCall }, async (mcp) => {
      assert.equal(await call(mcp), "worked");
      await eventually(() => isClosed);
    });
  });

  it("leaves a stream when nobody waits for its answer any more", async () => {
    let isClosed = false;
    const onCall: Plan["onCall"] = ({ response }) => {
      response.on("close", () => (isClosed = true));
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 10); // drips
      response.on("close", () => clearInterval(timer));
    };
    await withServer({ onCall }, async (mcp) => {
      await assert.rejects(call(mcp, AbortSignal.timeout(300)));
      await eventually(() => isClosed);
    });
  });

  it("takes a stream up again where it broke off", async () => {
    let asked = 0;
    const plan: Plan = {
      onCall: ({ id, response }) => {
        asked = id;
        response.writeHead(200, events).end("retry: 10\nid: e1\ndata:\n\n");
      },
      onGet: ({ headers }, response, count) => {
        if (headers["last-event-id"] !== "e1") return void response.writeHead(405).end();
        response.writeHead(200, events).end(count < 4 ? ": not yet\n\n" : `id: e2\ndata: ${worked(asked)}\n\n`);
      },
    };
    await withServer(plan, async (mcp) => assert.equal(await call(mcp), "worked"));
  });

  const refusals: readonly (readonly [string, (response: ServerResponse) => void, RegExp])[] = [
    ["is unknown by then", (response) => response.writeHead(404).end(), /does not go on with it \(HTTP 404\)/],
    ["cannot be taken up", (response) => response.writeHead(405).end(), /does not go on with it \(HTTP 405\)/],
    ["never says anything again", (response) => response.writeHead(200, events).end(": \n\n"), /ended its answer/],
    ["is moved", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), /is not there any more/],
    ["meets trouble again and again", (response) => response.writeHead(503).end(), /HTTP 503/],
  ];
  for (const [what, onResume, told] of refusals)
    it(`fails the call whose stream ${what}`, async () => {
      const plan: Plan = {
        onCall: ({ response }) => response.writeHead(200, events).end("retry: 10\nid: e1\ndata:\n\n"),
        onGet: ({ headers }, response) =>
          headers["last-event-id"] === "e1" ? onResume(response) : void response.writeHead(405).end(),
      };
      await withServer(plan, async (mcp) => assert.rejects(call(mcp), told));
    });

  it("is worked with while it says without end that its tools have changed", async () => {
    let isOver = false;
    const plan: Plan = {
      onCall: ({ id, response }) => response.writeHead(200, { "content-type": "application/json" }).end(worked(id)),
      onGet: (_, response) => {
        response.on("close", () => (isOver = true));
        response.writeHead(200, events);
        const news = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'.repeat(100);
        const more = (): void => {
          while (!isOver && response.write(news));
          if (!isOver) response.once("drain", () => setImmediate(more));
        };
        more();
      },
    };
    await withServer(plan, async (mcp) => {
      for (let count = 0; count < 5; count++) assert.equal(await call(mcp), "worked");
      assert.equal(mcp.tools.length, 1);
    });
  });
});
