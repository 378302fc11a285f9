import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { InMemoryTransport, Server } from "@modelcontextprotocol/server";
import type { PermissionRequest } from "../session/session-view.ts";
import { McpServers } from "../tools/mcp/mcp-servers.ts";
import { askPermissionTool } from "./ask-permission-tool.ts";

/** A server of the official SDK that lives in this process, with one tool that answers `text`. */
async function connect(text: string): Promise<{ mcp: McpServers; calls: unknown[] }> {
  const calls: unknown[] = [];
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: "guard", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [{ name: "ask", inputSchema: { type: "object" as const } }] }));
  server.setRequestHandler("tools/call", ({ params }) => {
    calls.push(params.arguments);
    return { content: [{ type: "text" as const, text }] };
  });
  await server.connect(theirs);
  const mcp = new McpServers({ cwd: process.cwd(), env: {}, hostTransport: () => ours });
  await mcp.connect(new Map([["guard", { type: "sdk", name: "guard" }]]));
  after(() => mcp.close());
  return { mcp, calls };
}

const input = { command: "ls" } as unknown as PermissionRequest["input"]; // as a session hands it over
const request: PermissionRequest = { requestId: "q1", toolName: "Bash", toolCallId: "call_1", input, reason: "asked" };
const { signal } = new AbortController();

describe("a tool that answers permission questions", () => {
  it("is told of the call, and its JSON is the answer", async () => {
    const { mcp, calls } = await connect('{"behavior":"allow"}');
    assert.deepEqual(await askPermissionTool(mcp, "mcp__guard__ask")(request, signal), { behavior: "allow" });
    assert.deepEqual(calls, [{ tool_name: "Bash", input: { command: "ls" }, tool_use_id: "call_1" }]);
  });

  it("must be there, and the error names those that are", async () => {
    const { mcp } = await connect("{}");
    assert.throws(() => askPermissionTool(mcp, "mcp__guard__other"), { code: "config", hint: "There are: mcp__guard__ask" });
    const none = new McpServers({ cwd: process.cwd(), env: {} });
    assert.throws(() => askPermissionTool(none, "x"), { hint: "There are: none" });
  });

  for (const [text, problem] of [
    ["yes", /no JSON but "yes"/],
    ["[]", /no JSON object/],
    ["null", /no JSON object/],
    ["true", /no JSON object/],
  ] as const)
    it(`fails with ${text}, which is no answer`, async () => {
      const { mcp } = await connect(text);
      await assert.rejects(askPermissionTool(mcp, "mcp__guard__ask")(request, signal), problem);
    });
});
