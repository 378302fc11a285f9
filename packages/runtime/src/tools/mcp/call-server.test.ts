import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { createLocalWorkspace } from "../../workspace/local.ts";
import { createToolMemory, type ToolContext } from "../tool.ts";
import { McpServers } from "./mcp-servers.ts";
import type { McpMessage, McpTransport } from "./transport.ts";

type Answer = (params: JsonObject, say: (message: JsonObject) => void) => JsonObject;

/** A server in this process that answers what a test says, well-formed or not. */
function transport(answers: Record<string, Answer>): McpTransport {
  const server: McpTransport = {
    async start() {},
    async close() {},
    async send({ id, method = "", params }) {
      if (id === undefined) return;
      const say = (message: JsonObject): void => server.onmessage?.({ jsonrpc: "2.0", ...message } as McpMessage);
      const result =
        method === "initialize"
          ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
          : (answers[method]?.(Object(params) as JsonObject, say) ?? {});
      setImmediate(() => say({ id, result })); // what was said before it has been heard
    },
  };
  return server;
}

async function connect(answers: Record<string, Answer>): Promise<{ mcp: McpServers; warnings: string[] }> {
  const warnings: string[] = [];
  const mcp = new McpServers({
    cwd: process.cwd(),
    env: {},
    hostTransport: () => transport(answers),
    warn: (message) => warnings.push(message),
  });
  await mcp.connect(new Map([["s", { type: "sdk", name: "s" }]]));
  after(() => mcp.close());
  return { mcp, warnings };
}

const tool = (name: unknown, more: JsonObject = {}): JsonObject => ({ name, ...more }) as JsonObject;
const deep = (levels: number): JsonObject => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as JsonObject;

describe("the tools of a server", () => {
  it("are those with a name, each name once, from all pages", async () => {
    const pages: Record<string, JsonObject> = {
      "": { tools: [tool("a"), tool(""), tool(7), null, "words", tool("a", { description: "again" })], nextCursor: "2" },
      "2": { tools: [tool("b", { title: "B" }), tool("c", { description: "C", title: "no" })], nextCursor: "2" },
    };
    const { mcp, warnings } = await connect({ "tools/list": ({ cursor }) => pages[String(cursor ?? "")] ?? {} });
    assert.deepEqual(
      mcp.tools.map(({ name, description }) => `${name}: ${description}`),
      ["mcp__s__a: a", "mcp__s__b: B", "mcp__s__c: C"],
    );
    assert.match(warnings.join("\n"), /4 tools are left out: without a name/);
    assert.match(warnings.join("\n"), /1 tool is left out: with a name that another one has/);
  });

  it("are no more than five thousand", async () => {
    const tools = Array.from({ length: 5_002 }, (_, index) => tool(`t${index}`));
    const { mcp, warnings } = await connect({ "tools/list": () => ({ tools }) });
    assert.equal(mcp.states[0]?.tools.length, 5_000);
    assert.match(warnings.join("\n"), /2 tools are left out: more than 5000 are not taken/);
  });

  it("take any input where the schema for it has no bottom", async () => {
    const { mcp, warnings } = await connect({ "tools/list": () => ({ tools: [tool("a", { inputSchema: deep(2_000) })] }) });
    assert.deepEqual(mcp.tools[0]?.inputSchema, { type: "object" });
    assert.match(warnings.join("\n"), /of the tool "a" the schema of its input is nested/);
  });

  it("run side by side only where the server says that they only look", async () => {
    const tools = [true, false, "yes"].map((readOnlyHint, index) => tool(`t${index}`, { annotations: { readOnlyHint } }));
    const { mcp } = await connect({ "tools/list": () => ({ tools: [...tools, tool("t3")] }) });
    assert.deepEqual(
      mcp.tools.map(({ concurrent }) => concurrent),
      [true, false, false, false],
    );
  });
});

describe("a call of a tool", () => {
  const heard: string[] = [];
  const context: ToolContext = {
    callId: "toolu_1",
    workspace: createLocalWorkspace({ root: process.cwd(), env: {}, overflowDirectory: "/nowhere" }),
    signal: new AbortController().signal,
    progress: (words) => heard.push(words),
    memory: createToolMemory(),
  };
  const call = async (answer: Answer): Promise<unknown> => {
    const { mcp } = await connect({ "tools/list": () => ({ tools: [tool("work")] }), "tools/call": answer });
    return (await mcp.tools[0]?.execute({ x: 1 }, context))?.content;
  };

  it("tells its input, its name and how far it is", async () => {
    let asked: JsonObject = {};
    await call((params, say) => {
      asked = params;
      const { progressToken } = params["_meta"] as JsonObject;
      for (const more of [{ progress: 1 }, { progress: 1, total: 3 }, { progress: 2, total: 3, message: "nearly" }])
        say({ method: "notifications/progress", params: { progressToken: progressToken ?? null, ...more } });
      return { content: [] };
    });
    assert.deepEqual(heard, ["1", "1 of 3", "nearly"]);
    assert.deepEqual([asked["name"], asked["arguments"]], ["work", { x: 1 }]);
    assert.equal((asked["_meta"] as JsonObject)["claudecode/toolUseId"], "toolu_1");
  });

  it("shows what can be walked through of an answer, and says what cannot", async () => {
    const words = (what: string): object => ({
      type: "text",
      text: `(${what} is nested more than 500 levels deep and is not shown)`,
    });
    const kept = { type: "text", text: "kept" };
    assert.deepEqual(await call(() => ({ content: [kept, deep(2_000)], structuredContent: deep(2_000) })), [
      kept,
      words("a block of the answer"),
      words("the structured answer"),
    ]);
    assert.deepEqual(await call(() => ({ structuredContent: deep(2_000) })), [words("the structured answer")]);
    assert.deepEqual(await call(() => ({ content: deep(2_000), isError: true })), [words("a block of the answer")]);
  });
});
