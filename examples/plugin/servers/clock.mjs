// An MCP server without dependencies: one tool, over standard input and output.
import { createInterface } from "node:readline";

const tool = {
  name: "zone",
  description: "The time zone of the clock, and where its plugin lies",
  inputSchema: { type: "object", properties: {} },
};
const text = () => `${process.env.CLOCK_ZONE} in ${process.env.CLAUDE_PLUGIN_ROOT}`;

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "clock", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": () => ({ content: [{ type: "text", text: text() }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: `There is no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}
