// A small MCP server over stdio, for the suite.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "program", version: "1.2.3" });
server.registerTool("shout", { description: "Shouts", inputSchema: { text: z.string() } }, async ({ text }) => ({
  content: [{ type: "text", text: `${text.toUpperCase()} ${process.env.SUITE_WORD ?? ""}` }],
}));
server.registerTool("ask", { description: "Asks the user", inputSchema: {} }, async () => {
  const answer = await server.server.elicitInput({
    message: "Your name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  });
  return { content: [{ type: "text", text: `${answer.action} ${JSON.stringify(answer.content ?? {})}` }] };
});
server.registerTool("secrets", { description: "Shows its environment", inputSchema: {} }, async () => ({
  content: [{ type: "text", text: `key=${process.env.ANTHROPIC_API_KEY ?? "none"}` }],
}));
server.registerResource("page", "ui://program/page", { mimeType: "text/html" }, async (uri) => ({
  contents: [{ uri: uri.href, mimeType: "text/html", text: "<p>hello</p>" }],
}));
await server.connect(new StdioServerTransport());
