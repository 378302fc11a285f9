import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { McpServers } from "../tools/mcp/mcp-servers.ts";
import type { PermissionAnswerer } from "./permission-answers.ts";

/**
 * Asks a tool of an MCP server: it is called with the call in question, and answers with a text that is Claude's JSON for yes or no.
 * A tool that is not there is a start-up error, not a surprise at the first question.
 */
export function askPermissionTool(mcp: McpServers | undefined, name: string): PermissionAnswerer {
  if (!mcp?.tools.some((tool) => tool.name === name))
    throw new RuntimeError("config", `There is no MCP tool ${name} that could decide about permissions`, {
      hint: `There are: ${mcp?.tools.map((tool) => tool.name).join(", ") || "none"}`,
    });
  return async ({ toolName, toolCallId, input }, signal) =>
    parseVerdict(await mcp.call(name, { tool_name: toolName, input, tool_use_id: toolCallId }, signal));
}

function parseVerdict(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`the tool answered no JSON but ${JSON.stringify(text.slice(0, 200))}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("the tool answered no JSON object");
  return value as JsonObject; // JSON.parse makes nothing else
}
