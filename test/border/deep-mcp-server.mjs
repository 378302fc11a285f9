// An MCP server over stdio whose schema and answers are nested as deeply as no stack can follow.
import { createInterface } from "node:readline";

const nested = (depth, inner = "{}") => '{"x-odd":'.repeat(depth) + inner + "}".repeat(depth);
const lists = (depth) => "[".repeat(depth) + "]".repeat(depth);

const tools = [
  `{"name":"schema","inputSchema":{"type":"object","x-odd":${nested(20_000)}},"outputSchema":${nested(20_000)}}`,
  '{"name":"structured","inputSchema":{"type":"object"}}',
  '{"name":"block","inputSchema":{"type":"object"}}',
  '{"name":"plain","inputSchema":{"type":"object"}}',
  '{"title":"nameless"}',
  '{"name":"plain","inputSchema":{"type":"object"}}',
];

const answers = {
  initialize: ({ protocolVersion }) =>
    JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "deep", version: "1" } }),
  "tools/list": () => `{"tools":[${tools.join(",")}]}`,
  "tools/call": ({ name }) =>
    ({
      structured: `{"content":[{"type":"text","text":"beside it"}],"structuredContent":{"a":${lists(1_000_000)}}}`,
      block: `{"content":[{"type":"odd","value":${lists(100_000)}},{"type":"text","text":"after it"}]}`,
    })[name] ?? `{"content":[{"type":"text","text":"${name} was called"}]}`,
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${answers[method]?.(params) ?? "{}"}}\n`);
});
