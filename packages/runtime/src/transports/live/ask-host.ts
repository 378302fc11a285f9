import type { PermissionAnswerer } from "../../hosting/permission-answers.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";
import type { ControlChannel } from "./control-channel.ts";
import { toHookInput } from "../../tools/hook-input.ts";
import { defined } from "../../util/defined.ts";

type Asked = {
  readonly mcp: McpServers | undefined;
  /** The folder that relative paths of calls start at. */
  readonly root: () => Promise<string>;
};

/** Asks the host over its control channel; a turn that ends takes the question back. */
export function askHost(channel: ControlChannel, { mcp, root }: Asked): PermissionAnswerer {
  return async ({ toolName, toolCallId, input, reason, rule, taskId, by, path, mode }, signal) =>
    await channel.ask(
      {
        subtype: "can_use_tool",
        tool_name: toolName,
        display_name: toolName,
        input: toHookInput(input, await root()),
        tool_use_id: toolCallId,
        ...descriptionOf(input),
        decision_reason: reason,
        ...(by === "hook" && hookReason),
        ...(rule !== undefined && { permission_suggestions: [toRule(rule), ...(mode ? [toMode(mode)] : [])] }),
        ...defined({ blocked_path: path, agent_id: taskId }),
        ...serverOf(toolName, mcp),
      },
      signal,
    );
}

const hookReason: JsonObject = {
  decision_reason_type: "hook",
  decision_reason_hook_event: "PreToolUse",
  decision_reason_hook_source: "settings",
};

/** Whose tool it is. What a server is called by others is no reason to trust it; where it came from may be. */
function serverOf(toolName: string, mcp: McpServers | undefined): { mcp_server?: JsonObject } {
  const server = mcp?.states.find(({ tools }) => tools.includes(toolName));
  return server ? { mcp_server: { name: server.name, source: server.source ?? "dynamic" } } : {};
}

/** What the model itself says the call is for. */
function descriptionOf({ description }: JsonObject): { description?: string } {
  return typeof description === "string" ? { description } : {};
}

/** No folder is suggested: a host that takes all suggestions would open more than the file it was shown. */
function toMode(mode: string): JsonObject {
  return { type: "setMode", mode, destination: "session" };
}

/** `Bash(npm test)` as Claude's two fields. */
function toRule(rule: string): JsonObject {
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const named = { toolName, ...defined({ ruleContent }) };
  return { type: "addRules", rules: [named], behavior: "allow", destination: "session" };
}
