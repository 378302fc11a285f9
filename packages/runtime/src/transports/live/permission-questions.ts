import { type PermissionUpdate, parsePermissionUpdate } from "../../permissions/permission-update.ts";
import type { Answer } from "../../permissions/gate.ts";
import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";
import { isTooDeep, maxJsonDepth } from "../../util/too-deep.ts";
import type { ControlChannel } from "./control-channel.ts";

/** Somebody who answers permission questions, in Claude's words: `{ behavior: "allow" | "deny", updatedInput?, message?, … }`. */
export type PermissionAnswerer = (request: PermissionRequest, signal: AbortSignal) => Promise<JsonObject>;

/** Puts every permission question of a session to somebody. Whatever goes wrong with the answer is a no. */
export function answerPermissionQuestions(
  session: InteractiveSession,
  { answerer, turn, warn }: { answerer: PermissionAnswerer; turn: () => AbortSignal; warn: (message: string) => void },
): void {
  session.on("permission_request", (request) => {
    void toAnswer(answerer(request, turn()), { session, warn }).then((answer) => {
      try {
        session.answerPermission(request.requestId, answer);
      } catch {
        // The turn was aborted in the meantime: nobody waits for the answer.
      }
    });
  });
}

/** Asks the host over its control channel; a turn that ends takes the question back. */
export function askHost(channel: ControlChannel, mcp: McpServers | undefined): PermissionAnswerer {
  return async ({ toolName, toolCallId, input, reason, rule, taskId }, signal) =>
    await channel.ask(
      {
        subtype: "can_use_tool",
        tool_name: toolName,
        display_name: toolName,
        input,
        tool_use_id: toolCallId,
        ...descriptionOf(input),
        decision_reason: reason,
        permission_suggestions: rule === undefined ? [] : [suggestion(rule)],
        ...(taskId !== undefined && { agent_id: taskId }),
        ...serverOf(toolName, mcp),
      },
      signal,
    );
}

type Asking = { readonly session: InteractiveSession; readonly warn: (message: string) => void };

/** What an answer changes for later calls. */
export async function updatePermissions(response: JsonObject, { session, warn }: Asking): Promise<void> {
  for (const update of updatesOf(response))
    for (const note of await (await session.controls()).updatePermissions(update)) warn(note);
}

async function toAnswer(asked: Promise<JsonObject>, { session, warn }: Asking): Promise<Answer> {
  try {
    const response = await asked;
    if (response["behavior"] !== "allow") return refusal(response);
    if (isTooDeep(response)) throw new Error(`the answer is nested more than ${maxJsonDepth} levels deep`);
    const updatedInput = response["updatedInput"] ?? undefined;
    if (updatedInput !== undefined && !isJsonObject(updatedInput)) throw new Error('"updatedInput" of the answer is no object');
    await updatePermissions(response, { session, warn });
    return { decision: "allow", ...(updatedInput && { updatedInput }) };
  } catch (error) {
    return {
      decision: "deny",
      message: `The permission question was not answered: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function refusal({ behavior, message, interrupt }: JsonObject): Answer {
  const words = typeof message === "string" && message !== "" ? message : undefined;
  return {
    decision: "deny",
    message: words ?? (behavior === "deny" ? "The user said no." : "The answer to the permission question made no sense."),
    ...(interrupt === true && { interrupt: true }),
  };
}

function updatesOf({ updatedPermissions }: JsonObject): PermissionUpdate[] {
  return Array.isArray(updatedPermissions) ? updatedPermissions.map(parsePermissionUpdate) : [];
}

/** Whose tool it is. What a server is called by others is no reason to trust it; where it came from may be. */
function serverOf(toolName: string, mcp: McpServers | undefined): { mcp_server?: JsonObject } {
  const server = mcp?.states.find(({ tools }) => tools.includes(toolName));
  return server ? { mcp_server: { name: server.name, source: server.source ?? "dynamic" } } : {};
}

/** What the model itself says the call is for. */
function descriptionOf({ description }: JsonObject): { description?: string } {
  return typeof description === "string" ? { description } : {};
}

/** `Bash(npm test)` as Claude's two fields. */
function suggestion(rule: string): JsonObject {
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const named = { toolName, ...(ruleContent !== undefined && { ruleContent }) };
  return { type: "addRules", rules: [named], behavior: "allow", destination: "session" };
}
