import { type PermissionUpdate, parsePermissionUpdate } from "../../permissions/permission-update.ts";
import type { Answer } from "../../permissions/gate.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import type { ControlChannel } from "./control-channel.ts";

/** Puts every permission question of a session to the host. Whatever goes wrong with the answer is a no. */
export function forwardPermissionQuestions(
  session: InteractiveSession,
  { channel, turn, warn }: { channel: ControlChannel; turn: () => AbortSignal; warn: (message: string) => void },
): void {
  session.on("permission_request", (request) => {
    const answered = askHost(request, { session, channel, signal: turn(), warn });
    void answered.then((answer) => {
      try {
        session.answerPermission(request.requestId, answer);
      } catch {
        // The turn was aborted in the meantime: nobody waits for the answer.
      }
    });
  });
}

type Asking = {
  readonly session: InteractiveSession;
  readonly channel: ControlChannel;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
};

async function askHost(request: PermissionRequest, { session, channel, signal, warn }: Asking): Promise<Answer> {
  const { toolName, toolCallId, input, reason, rule } = request;
  try {
    const response = await channel.ask(
      {
        subtype: "can_use_tool",
        tool_name: toolName,
        display_name: toolName,
        input: toObject(input),
        tool_use_id: toolCallId,
        decision_reason: reason,
        permission_suggestions: rule === undefined ? [] : [suggestion(rule)],
      },
      signal,
    );
    if (response["behavior"] !== "allow") return refusal(response);
    for (const update of updatesOf(response))
      for (const note of await (await session.controls()).updatePermissions(update)) warn(note);
    const { updatedInput } = response;
    return { decision: "allow", ...(isObject(updatedInput) && { updatedInput }) };
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

/** `Bash(npm test)` as Claude's two fields. */
function suggestion(rule: string): JsonObject {
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const named = { toolName, ...(ruleContent !== undefined && { ruleContent }) };
  return { type: "addRules", rules: [named], behavior: "allow", destination: "session" };
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
