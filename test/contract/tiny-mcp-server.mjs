// An MCP server over stdio with two tools: add, and fail.
import { createInterface } from "node:readline";

const tools = [
  {
    name: "add",
    description: "Adds two numbers",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    outputSchema: { type: "object", properties: { sum: { type: "number" } } },
  },
  { name: "fail", description: "Fails", inputSchema: { type: "object", properties: {} } },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "tiny", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: input }) => {
    if (name === "fail") return { content: [{ type: "text", text: "it failed" }], isError: true };
    const sum = input.a + input.b;
    return { content: [{ type: "text", text: JSON.stringify({ sum }) }], structuredContent: { sum } };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params ?? {}) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
