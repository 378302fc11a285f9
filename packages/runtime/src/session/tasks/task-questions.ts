import { isJsonObject } from "../../protocol/content.ts";
import type { EventBody } from "../../protocol/events.ts";
import type { PermissionGate, Question } from "../../permissions/gate.ts";
import type { BackgroundTaskEvent } from "../../tasks/background/task-contract.ts";

export type QuestionGround = {
  readonly gate: PermissionGate;
  /** Is somebody there who answers? */
  readonly answerable: boolean;
  /** As what a task does: clients see whose question it is. */
  readonly emit: (event: EventBody, taskId: string) => void;
  readonly answer: (taskId: string, requestId: string, isAllowed: boolean) => void;
};

type Asked = BackgroundTaskEvent & { readonly type: "background_task_permission_request" };

/** Questions that runners of a program ask for their tasks: they go the way of all others, so that every client can answer them. */
export class TaskQuestions {
  readonly #ground: QuestionGround;
  readonly #open = new Map<string, AbortController>();

  constructor(ground: QuestionGround) {
    this.#ground = ground;
  }

  /** Resolves when it is answered. With nobody there it is a no, and a task that has ended needs no answer any more. */
  async ask({ taskId, requestId, toolName, toolArgs }: Asked): Promise<void> {
    const { gate, answerable, emit, answer } = this.#ground;
    if (gate.question(requestId)) return; // an agent of the session has asked itself
    const input = (isJsonObject(toolArgs) ? toolArgs : {}) as Question["input"]; // as the runner would do it
    const reason = `the task ${taskId} asks for it`;
    const question = { requestId, callId: requestId, tool: toolName, input, reason };
    const controller = new AbortController();
    this.#open.set(taskId, controller);
    const waiting = answerable ? gate.ask(question, controller.signal) : undefined;
    emit({ type: "permission.requested", ...question }, taskId);
    const said = waiting ? await waiting.catch(() => undefined) : { unanswered: "" };
    this.#open.delete(taskId);
    const decision = said && "decision" in said ? said.decision : "deny";
    const by = said && "unanswered" in said ? "policy" : "user";
    emit({ type: "permission.resolved", requestId, callId: requestId, decision, by, reason }, taskId);
    if (said) answer(taskId, requestId, decision === "allow");
  }

  /** Nobody needs an answer any more. */
  drop(taskId: string): void {
    this.#open.get(taskId)?.abort(new Error("The task has ended"));
  }
}
