import type { Json, JsonRecord } from "./structure.ts";

/** What a host answers to requests of the command. */
export type Answers = (request: JsonRecord) => JsonRecord;

/** Answers by kind of request; `undefined` for a kind nobody expects is an error answer. */
export function answerer(choices: {
  readonly permission?: JsonRecord;
  readonly hook?: JsonRecord;
  readonly elicitations?: readonly JsonRecord[];
}): Answers {
  const elicitations = [...(choices.elicitations ?? [])];
  return (request) => {
    switch (request["subtype"]) {
      case "can_use_tool":
        return choices.permission ?? { behavior: "deny", message: "nobody expected this question" };
      case "hook_callback":
        return choices.hook ?? {};
      case "elicitation":
        return elicitations.shift() ?? { action: "cancel" };
      case "mcp_message":
        return { mcp_response: answerMcp(recordOf(request["message"])) };
      default:
        return {};
    }
  };
}

/** An MCP server with one tool, in the host. */
function answerMcp(message: JsonRecord): JsonRecord {
  const reply = (result: JsonRecord): JsonRecord => ({ jsonrpc: "2.0", id: message["id"] ?? 0, result });
  switch (message["method"]) {
    case "initialize":
      return reply({
        protocolVersion: recordOf(message["params"])["protocolVersion"] ?? "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "inproc", version: "1" },
      });
    case "tools/list":
      return reply({
        tools: [{ name: "echo", description: "echo", inputSchema: { type: "object", properties: { s: { type: "string" } } } }],
      });
    case "tools/call":
      return reply({ content: [{ type: "text", text: "echo:yo" }] });
    default:
      return reply({});
  }
}

export function recordOf(value: Json | undefined): JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
