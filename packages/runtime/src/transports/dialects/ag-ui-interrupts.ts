import type { Answer } from "../../permissions/gate.ts";
import { isJsonObject } from "../../protocol/content.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import { isRecord } from "../../util/is-record.ts";
import { oneLine } from "../acp/describe-call.ts";

/** Something a run needs to be told before it goes on, as AG-UI 1.0 has it. */
export type Interrupt = { readonly id: string; readonly [field: string]: unknown };

const longestInput = 2_000;

/** A call of the agent's own is named; what a subagent wants to call, the client has never heard of. */
export function toInterrupt(
  { requestId, toolCallId, toolName, input, reason, rule, taskId }: PermissionRequest,
  expiresAt: string,
): Interrupt {
  const json = JSON.stringify(input, null, 2);
  const shown = json.length > longestInput ? `${json.slice(0, longestInput)}…` : json;
  const remember =
    rule === undefined ? {} : { remember: { enum: ["session"], description: `Do not ask again for: ${oneLine(rule)}` } };
  return {
    id: requestId,
    ...(taskId === undefined ? { reason: "tool_call", toolCallId } : { reason: "confirmation" }),
    message: `${toolName} needs permission: ${oneLine(reason)}\n${shown}`,
    responseSchema: {
      type: "object",
      properties: {
        approved: { type: "boolean" },
        editedArgs: { type: "object", description: "The call as it may be made, whole; it is judged anew." },
        ...remember,
      },
      required: ["approved"],
    },
    expiresAt,
  };
}

/** One answer for each question, or undefined where they are not what was asked for. A question that the user has left is answered with no. */
export function toPermissionAnswers(
  questions: readonly PermissionRequest[],
  resume: readonly unknown[],
): ReadonlyMap<string, Answer> | undefined {
  const entries = new Map(resume.flatMap((entry) => (isRecord(entry) ? [[entry["interruptId"], entry] as const] : [])));
  const answers = new Map<string, Answer>();
  for (const { requestId, rule } of questions) {
    const answer = toAnswer(entries.get(requestId), rule);
    if (!answer) return undefined;
    answers.set(requestId, answer);
  }
  return answers;
}

function toAnswer(entry: Record<string, unknown> | undefined, rule: string | undefined): Answer | undefined {
  if (entry?.["status"] === "cancelled") return { decision: "deny", message: "The user left the question without an answer." };
  const payload = entry?.["status"] === "resolved" ? entry["payload"] : undefined;
  if (!isRecord(payload)) return undefined;
  const { approved, editedArgs, remember } = payload;
  if (approved === false) return { decision: "deny", message: "The user said no." };
  if (approved !== true || (editedArgs !== undefined && !isJsonObject(editedArgs))) return undefined;
  return {
    decision: "allow",
    ...(editedArgs !== undefined && { updatedInput: editedArgs }),
    ...(remember === "session" && rule !== undefined && { remember }),
  };
}
