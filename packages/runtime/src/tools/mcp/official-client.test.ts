import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { InMemoryTransport, Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../protocol/content.ts";
import { createLocalWorkspace } from "../../workspace/local.ts";
import { createToolMemory, type ToolContext } from "../tool.ts";
import { McpServers } from "./mcp-servers.ts";
import { outputValidator } from "./output-validator.ts";

const context: ToolContext = {
  callId: "1",
  workspace: createLocalWorkspace({ root: process.cwd(), env: {}, overflowDirectory: "/nowhere" }),
  signal: new AbortController().signal,
  progress() {},
  memory: createToolMemory(),
};
const text = [{ type: "text" as const, text: "It is 21 degrees." }];

/** One tool that says what it answers, in a server of the official SDK that lives in this process. */
async function connectWeather(outputSchema: JsonObject, structuredContent: JsonObject): Promise<McpServers> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: "weather", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [
      { name: "now", inputSchema: { type: "object" as const }, outputSchema: { type: "object" as const, ...outputSchema } },
    ],
  }));
  server.setRequestHandler("tools/call", () => ({ content: text, structuredContent }));
  await server.connect(theirs);
  const mcp = new McpServers({ cwd: process.cwd(), env: {}, hostTransport: () => ours });
  await mcp.connect(new Map([["weather", { type: "sdk", name: "weather" }]]));
  after(() => mcp.close());
  return mcp;
}

/** What the model is shown. */
async function ask(mcp: McpServers): Promise<string> {
  const { content = [] } = (await mcp.tools[0]?.execute({}, context)) ?? {};
  return content.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n");
}

describe("what a tool of a server answers", () => {
  const degrees = { properties: { degrees: { type: "number", maximum: 60 } }, required: ["degrees"] };

  it("is taken when it is what the tool said it would be", async () => {
    const mcp = await connectWeather(degrees, { degrees: 21 });
    assert.equal(await ask(mcp), "It is 21 degrees.");
    assert.equal(await mcp.call("mcp__weather__now", {}, context.signal), "It is 21 degrees.");
  });

  it("fits its schema or does not, as the client is told too", () => {
    const check = outputValidator.getValidator({ type: "object" as const, ...degrees });
    assert.deepEqual(check({ degrees: 21 }), { valid: true, data: { degrees: 21 }, errorMessage: undefined });
    const { valid, data } = check({ degrees: 61 });
    assert.deepEqual([valid, data], [false, undefined]);
  });

  it("is shown with a note when it is something else", async () => {
    const hot = await ask(await connectWeather(degrees, { degrees: 300 }));
    assert.match(hot, /^It is 21 degrees\.\n\[.*does not fit.*#\/degrees: 300 is greater than 60/);
    assert.match(await ask(await connectWeather(degrees, {})), /^It is 21 degrees\.\n\[.*required property/);
  });

  it("is shown with a note when what the tool says of it cannot be checked", async () => {
    const lost = { properties: { degrees: { $ref: "#/$defs/nowhere" } } };
    const said = await ask(await connectWeather(lost, { degrees: 21 }));
    assert.match(said, /^It is 21 degrees\.\n\[.*#\/\$defs\/nowhere leads nowhere/);
  });

  it("is read by the rules of the draft it names", async () => {
    const tuple = { properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } } };
    const draft = { ...tuple, $schema: "http://json-schema.org/draft-07/schema#" };
    assert.match(await ask(await connectWeather(draft, { pair: ["a", "b"] })), /#\/pair\/1/);
  });
});
