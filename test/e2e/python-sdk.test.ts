import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { model, run, start, tempFolder } from "./command.ts";

type Frame = Record<string, unknown> & { type: string };

/** The words and their order are those of the Python SDK: each flag and its value are two words, an empty system prompt, servers of the host by name. */
const words = [
  ...["--output-format", "stream-json", "--verbose"],
  ...["--system-prompt", ""],
  ...["--allowedTools", "mcp__calc__add"],
  ...["--max-turns", "5"],
  ...["--permission-mode", "bypassPermissions"],
  ...["--mcp-config", JSON.stringify({ mcpServers: { calc: { type: "sdk", name: "calc" } } })],
  ...["--setting-sources", ""],
  ...["--input-format", "stream-json"],
];
const python = { CLAUDE_CODE_ENTRYPOINT: "sdk-py", CLAUDE_AGENT_SDK_VERSION: "0.1.0" };

describe("the Python SDK", () => {
  it("asks for the version first, and reads a number", async () => {
    const { code, stdout } = await run(["-v"], { env: python });
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+/);
  });

  it("initializes, waits for the answer, then prompts; its server answers, and the end of stdin is the end", async () => {
    const { env, server } = await model(
      [{ calls: [{ name: "mcp__calc__add", input: { a: 1, b: 2 } }] }, { text: "three" }],
      tempFolder(),
    );
    const { child, done } = start(words, { env: { ...env, ...python }, stdin: "open" });
    const frames: Frame[] = [];
    const send = (frame: object): void => void child.stdin.write(`${JSON.stringify(frame)}\n`);
    const initialize = { subtype: "initialize", hooks: null };
    send({ type: "control_request", request_id: "req_1_a1b2c3d4", request: initialize });
    let prompted = false;
    for await (const line of createInterface({ input: child.stdout })) {
      assert.ok(line.length < 1024 * 1024, "a line is longer than the Python SDK reads");
      const frame = JSON.parse(line) as Frame; // it raises for a line that is no JSON
      frames.push(frame);
      if (frame.type === "control_request") send(answerOf(frame));
      if (frame.type === "control_response" && !prompted) {
        prompted = true;
        const message = { role: "user", content: "Add 1 and 2" };
        send({ type: "user", message, parent_tool_use_id: null, session_id: "default" });
      }
      if (frame.type === "result") child.stdin.end();
    }
    const { code, stderr } = await done;
    assert.equal(code, 0, stderr);
    const { response } = frames[0] as unknown as { response: { subtype: string; request_id: string } };
    assert.deepEqual([response.subtype, response.request_id], ["success", "req_1_a1b2c3d4"]);
    const kinds = frames.map(({ type }) => type).filter((type) => ["assistant", "user", "result"].includes(type));
    assert.deepEqual(kinds, ["assistant", "user", "assistant", "result"]);
    assert.equal(frames.find(({ type }) => type === "result")?.["result"], "three");
    assert.match(JSON.stringify(server.requests[1]?.body), /The sum is 3/);
  });
});

/** What the SDK says for a server that lives in its process. */
function answerOf({ request_id: id, request }: Frame): object {
  const { subtype, message } = request as { subtype: string; message: { id?: number; method: string; params?: unknown } };
  assert.equal(subtype, "mcp_message");
  const mcp = { jsonrpc: "2.0", id: message.id ?? 0, result: resultOf(message.method) };
  return { type: "control_response", response: { subtype: "success", request_id: id, response: { mcp_response: mcp } } };
}

function resultOf(method: string): object {
  const inputSchema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
  switch (method) {
    case "initialize":
      return { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "calc", version: "1.0.0" } };
    case "tools/list":
      return { tools: [{ name: "add", description: "Adds", inputSchema }] };
    case "tools/call":
      return { content: [{ type: "text", text: "The sum is 3" }] };
    default:
      return {};
  }
}
