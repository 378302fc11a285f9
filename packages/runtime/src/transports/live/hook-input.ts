import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toToolUseResult } from "../headless/tool-use-result.ts";

/**
 * What a callback of a host is told, where programs written for Claude Code expect another form: what a tool answered is in that tool's own
 * shape. Undefined when such a program would not be called at all: there PostToolUse is for calls that went well.
 */
export function toHostInput(event: string, input: JsonObject): JsonObject | undefined {
  if (event !== "PostToolUse") return input;
  const { tool_response: response, tool_name: name, tool_input: toolInput, cwd } = input;
  if (!isJsonObject(response) || typeof name !== "string") return input;
  const { content, is_error: isError, ...details } = response;
  if (isError === true) return undefined;
  const ended = {
    name,
    status: "ok",
    result: { content: [{ type: "text", text: String(content) }] },
    details,
  } as unknown as AgentEvent<"tool.ended">; // the fields that say what a tool answered
  const shape = toToolUseResult(ended, { input: toolInput, cwd: String(cwd) });
  return { ...input, tool_response: isJsonObject(shape) ? { ...response, ...withoutGaps(shape) } : (shape as JsonValue) }; // made of JSON
}

function withoutGaps(shape: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}
