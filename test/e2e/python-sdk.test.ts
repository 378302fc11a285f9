import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lines, model, run, start, tempFolder } from "./command.ts";

type Frame = { [key: string]: unknown };

/** The flags that claude-agent-sdk for Python sends: two words each, an empty system prompt, and its own servers among the others. */
const flags = (servers: object): string[] => [
  ...["--output-format", "stream-json", "--verbose", "--system-prompt", "", "--allowedTools", "mcp__tools__double"],
  ...["--permission-mode", "default", "--mcp-config", JSON.stringify({ mcpServers: servers })],
  ...["--setting-sources", "", "--input-format", "stream-json"],
];

const tools = [
  { name: "double", description: "Doubles", inputSchema: { type: "object", properties: { n: { type: "number" } } } },
];

/** What its MCP servers answer. */
function answerOf({ method, params }: Frame): object {
  if (method === "initialize")
    return { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "tools", version: "1.0.0" } };
  if (method === "tools/list") return { tools };
  const { arguments: given } = params as { arguments: { n: number } };
  return { content: [{ type: "text", text: String(given.n * 2) }] };
}

describe("the Python SDK", () => {
  it("waits for initialize, holds its servers itself, and gets one result", async () => {
    const call = { calls: [{ name: "mcp__tools__double", input: { n: 21 }, callId: "toolu_1" }] };
    const { env, server } = await model([call, { text: "42" }], tempFolder());
    const entrypoint = { CLAUDE_CODE_ENTRYPOINT: "sdk-py", CLAUDE_AGENT_SDK_VERSION: "0.1.0" };
    const { child, done } = start(flags({ tools: { type: "sdk", name: "tools" } }), {
      env: { ...env, ...entrypoint },
      stdin: "open",
    });
    const send = (frame: object): void => void child.stdin.write(`${JSON.stringify(frame)}\n`);
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const whole = (rest + text).split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) answer(JSON.parse(line) as Frame); // the contract: every line is an object
    });
    const answer = (frame: Frame): void => {
      if (frame["type"] === "result") child.stdin.end();
      if (frame["type"] === "control_response")
        send({ type: "user", message: { role: "user", content: "Double 21" }, parent_tool_use_id: null, session_id: "default" });
      if (frame["type"] !== "control_request") return;
      const { message } = frame["request"] as { message: Frame };
      const mcp_response = { jsonrpc: "2.0", id: message["id"] ?? 0, result: "id" in message ? answerOf(message) : {} };
      const response = { subtype: "success", request_id: frame["request_id"], response: { mcp_response } };
      send({ type: "control_response", response });
    };
    send({ type: "control_request", request_id: "req_1_abcd", request: { subtype: "initialize", hooks: null } });
    const { code, stdout, stderr } = await done;
    assert.equal(code, 0, stderr);
    const results = lines(stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ result }) => result),
      ["42"],
    );
    assert.match(JSON.stringify(server.requests[1]?.body), /42/);
    const init = lines(stdout).find(({ subtype }) => subtype === "init");
    assert.deepEqual(init?.["mcp_servers"], [{ name: "tools", status: "connected", source: "sdk" }]);
  });

  it("such a server without a host is said to be missing", async () => {
    const { env } = await model([{ text: "ok" }], tempFolder());
    const config = JSON.stringify({ mcpServers: { tools: { type: "sdk", name: "tools" } } });
    const { code, stderr } = await run(["-p", "hi", "--mcp-config", config], { env });
    assert.equal(code, 0);
    assert.match(stderr, /MCP server tools is not connected.*no host/);
  });
});
