import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

/** A server with so many tools, each with a schema of some length. */
function manyTools(count: number): string {
  const path = join(tempFolder(), "many.mjs");
  writeFileSync(
    path,
    `import { createInterface } from "node:readline";
     const tools = Array.from({ length: ${count} }, (_, index) => ({
       name: "tool_" + index, description: "Does what number " + index + " does. ".repeat(5),
       inputSchema: { type: "object", properties: { value: { type: "string", description: "What to do it with. ".repeat(5) } } },
     }));
     const hello = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "many", version: "1" } };
     for await (const line of createInterface({ input: process.stdin })) {
       const { id, method, params } = JSON.parse(line);
       if (id === undefined) continue;
       const results = { initialize: hello, "tools/list": { tools }, "tools/call": { content: [{ type: "text", text: "ran " + params?.name }] } };
       process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }) + "\\n");
     }`,
  );
  return JSON.stringify({ mcpServers: { many: { command: process.execPath, args: [path] } } });
}

const namesIn = (body: unknown): string[] => (body as { tools: { name: string }[] }).tools.map(({ name }) => name);

describe("a server with many tools", { timeout: 120_000 }, () => {
  it("is named in the first request, and its tools are shown once they were looked for; one that was not runs too", async () => {
    const replies = [
      { calls: [{ name: "ToolSearch", input: { query: "select:mcp__many__tool_7" } }] },
      { calls: [{ name: "mcp__many__tool_7", input: { value: "x" } }] },
      { calls: [{ name: "mcp__many__tool_9", input: {} }] },
      { text: "ok" },
    ];
    const { env, server } = await model(replies, tempFolder());
    const words = [
      "-p",
      "go",
      "--mcp-config",
      manyTools(300),
      "--allowedTools",
      "mcp__many",
      "--output-format",
      "stream-json",
      "--verbose",
    ];
    const { code, stdout } = await run(words, { env });
    assert.equal(code, 0);
    const shown = server.requests.map(({ body }) =>
      namesIn(body).filter((name) => name.startsWith("mcp__") || name === "ToolSearch"),
    );
    assert.deepEqual(shown.slice(0, 2), [["ToolSearch"], ["ToolSearch", "mcp__many__tool_7"]]);
    assert.match(JSON.stringify(server.requests[0]?.body), /mcp__many__tool_299/);
    assert.match(stdout, /ran tool_7/);
    assert.match(stdout, /ran tool_9/);
  });

  it("is shown whole where it is small, or where somebody wants it so", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), tempFolder());
    await run(["-p", "go", "--mcp-config", manyTools(3)], { env });
    await run(["-p", "go", "--mcp-config", manyTools(300)], { env: { ...env, ENABLE_TOOL_SEARCH: "false" } });
    const counts = server.requests.map(({ body }) => namesIn(body).filter((name) => name.startsWith("mcp__")).length);
    assert.deepEqual(counts, [3, 300]);
  });
});
