import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { InMemoryTransport, Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../protocol/content.ts";
import { McpServers } from "./mcp-servers.ts";

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

const ask = (mcp: McpServers): Promise<string> => mcp.call("mcp__weather__now", {}, new AbortController().signal);

describe("what a tool of a server answers", () => {
  const degrees = { properties: { degrees: { type: "number", maximum: 60 } }, required: ["degrees"] };

  it("is taken when it is what the tool said it would be", async () => {
    assert.equal(await ask(await connectWeather(degrees, { degrees: 21 })), "It is 21 degrees.");
  });

  it("is refused when it is something else", async () => {
    await assert.rejects(ask(await connectWeather(degrees, { degrees: 300 })), /#\/degrees: 300 is greater than 60/);
    await assert.rejects(ask(await connectWeather(degrees, {})), /required property/);
  });

  it("is not asked for when what the tool says of it cannot be checked", async () => {
    const lost = { properties: { degrees: { $ref: "#/$defs/nowhere" } } };
    await assert.rejects(ask(await connectWeather(lost, { degrees: 21 })), /#\/\$defs\/nowhere leads nowhere/);
  });

  it("is read by the rules of the draft it names", async () => {
    const tuple = { properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } } };
    const draft = { ...tuple, $schema: "http://json-schema.org/draft-07/schema#" };
    await assert.rejects(ask(await connectWeather(draft, { pair: ["a", "b"] })), /#\/pair\/1/);
  });
});
