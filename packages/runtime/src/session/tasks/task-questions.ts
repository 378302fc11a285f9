import type { EventBody } from "../../protocol/events.ts";
import type { BackgroundTaskEvent } from "../../tasks/background/task-contract.ts";
import { askForTask, type TaskAsking } from "./ask-for-task.ts";

export type QuestionGround = Pick<TaskAsking, "gate" | "answerable"> & {
  readonly emit: (event: EventBody, taskId: string) => void;
  readonly answer: (taskId: string, requestId: string, isAllowed: boolean) => void;
};

type Asked = BackgroundTaskEvent & { readonly type: "background_task_permission_request" };

/** Questions that runners of a program ask for their tasks: they go the way of all others, so that every client can answer them. */
export class TaskQuestions {
  readonly #ground: QuestionGround;
  readonly #open = new Map<AbortController, string>();

  constructor(ground: QuestionGround) {
    this.#ground = ground;
  }

  /** Resolves when it is answered. A task that has ended needs no answer any more. */
  async ask(asked: Asked): Promise<void> {
    const { gate, answerable, emit, answer } = this.#ground;
    const { taskId, requestId } = asked;
    const controller = new AbortController();
    this.#open.set(controller, taskId);
    const tell = (event: EventBody): void => emit(event, taskId);
    const isAllowed = await askForTask(asked, { gate, answerable, tell, signal: controller.signal });
    this.#open.delete(controller);
    if (isAllowed !== undefined) answer(taskId, requestId, isAllowed);
  }

  /** Nobody needs its answers any more. */
  drop(taskId: string): void {
    for (const [controller, asking] of this.#open) if (asking === taskId) controller.abort(new Error("The task has ended"));
  }
}
