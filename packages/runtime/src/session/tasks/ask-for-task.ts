import type { JsonValue } from "../../protocol/content.ts";
import { isJsonObject } from "../../protocol/content.ts";
import type { EventBody } from "../../protocol/events.ts";
import type { PermissionGate, Question } from "../../permissions/gate.ts";

export type TaskQuestion = {
  readonly taskId: string;
  /** The runner's own name of it; those of different tasks may be the same. */
  readonly requestId: string;
  readonly toolName: string;
  readonly toolArgs?: JsonValue;
};

export type TaskAsking = {
  readonly gate: PermissionGate;
  /** Is somebody there who answers? */
  readonly answerable: boolean;
  /** As what the task does: clients see whose question it is. */
  readonly tell: (event: EventBody) => void;
  /** Aborts when nobody needs an answer any more. */
  readonly signal: AbortSignal;
};

/** Asks what a runner of the program wants to know for its task, the way all questions go. With nobody there it is a no; undefined when nobody needs it any more. */
export async function askForTask(
  { taskId, requestId: own, toolName, toolArgs }: TaskQuestion,
  { gate, answerable, tell, signal }: TaskAsking,
): Promise<boolean | undefined> {
  const requestId = `${taskId}:${own}`;
  const input = (isJsonObject(toolArgs) ? toolArgs : {}) as Question["input"]; // as the runner would do it
  const reason = `the task ${taskId} asks for it`;
  const question = { requestId, callId: requestId, tool: toolName, input, reason };
  const waiting = answerable && !signal.aborted ? gate.ask(question, signal) : undefined;
  tell({ type: "permission.requested", ...question });
  const said = waiting ? await waiting.catch(() => undefined) : { unanswered: "" };
  const decision = said && "decision" in said ? said.decision : "deny";
  const by = said && "unanswered" in said ? "policy" : "user";
  tell({ type: "permission.resolved", requestId, callId: requestId, decision, by, reason });
  return said && decision === "allow";
}
