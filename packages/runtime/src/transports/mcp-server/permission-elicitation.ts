import type { Answer } from "../../permissions/gate.ts";
import { isJsonObject } from "../../protocol/content.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import { oneLine } from "../acp/describe-call.ts";

/** A form of one field. */
export type Elicitation = {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: "object";
    readonly properties: { readonly decision: { readonly type: "string"; readonly title: string; readonly enum: string[] } };
    readonly required: ["decision"];
  };
};

const longestInput = 2_000;

/** Only what has a rule can be remembered: the yes would not know what it is for. */
export function toElicitation({ toolName, input, reason, rule }: PermissionRequest): Elicitation {
  const lasting = rule === undefined ? [] : ["allow-session", "allow-project"];
  const json = JSON.stringify(input, null, 2);
  const shown = json.length > longestInput ? `${json.slice(0, longestInput)}…` : json;
  const covers = rule === undefined ? "" : `\nallow-session and allow-project are for all of: ${oneLine(rule)}`;
  return {
    message: `${toolName} needs permission: ${oneLine(reason)}\n${shown}${covers}`,
    requestedSchema: {
      type: "object",
      properties: { decision: { type: "string", title: "May it?", enum: ["allow", ...lasting, "deny"] } },
      required: ["decision"],
    },
  };
}

/** Anything but a yes that was offered is a no. */
export function toAnswer(response: unknown, rule: string | undefined): Answer {
  const content = isJsonObject(response) && response["action"] === "accept" ? response["content"] : undefined;
  const decision = isJsonObject(content) ? content["decision"] : undefined;
  if (decision === "allow") return { decision: "allow" };
  if (decision === "allow-session" && rule !== undefined) return { decision: "allow", remember: "session" };
  if (decision === "allow-project" && rule !== undefined) return { decision: "allow", remember: "project" };
  return { decision: "deny", message: "The user said no." };
}
