import type { Task } from "./task-entry.ts";

/** How many tasks run at the same time, and which wait for that, in their order. */
export class TaskSlots {
  readonly #max: number;
  readonly #start: (task: Task) => void;
  #waiting: Task[] = [];
  #taken = 0;
  #isClosed = false;

  /** `start` is called for a task that has waited. */
  constructor(max: number, start: (task: Task) => void) {
    this.#max = max;
    this.#start = start;
  }

  get isFree(): boolean {
    return this.#taken < this.#max;
  }

  /** Also beyond the limit: it is up to the caller to ask. */
  take(task: Task): void {
    if (!task.hasSlot) this.#taken++;
    task.hasSlot = true;
  }

  /** The next one that waits may start. */
  leave(task: Task): void {
    if (task.hasSlot) this.#taken--;
    task.hasSlot = false;
    while (!this.#isClosed && this.isFree) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#start(next);
    }
  }

  wait(task: Task): void {
    this.#waiting.push(task);
  }

  /** It waits no longer. */
  drop(task: Task): void {
    this.#waiting = this.#waiting.filter((other) => other !== task);
  }

  /** Nothing that waits is started any more. */
  close(): void {
    this.#isClosed = true;
  }
}
