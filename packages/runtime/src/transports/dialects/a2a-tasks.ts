import { AsyncQueue } from "../../util/async-queue.ts";
import { A2aEvents, A2aProblem, type A2aTask, a2aErrors } from "./a2a.ts";
import type { DialectTurn } from "./run-turn.ts";

/** Tasks that can still be asked for. */
const remembered = 1_000;
/** Events that wait for one reader before the turn waits for it, too. */
const capacity = 256;

/** A turn that is read to its end, whoever listens: clients of A2A leave, and subscribe again. */
export class A2aRun {
  /** Resolves, never rejects, when nothing more happens. */
  readonly over: Promise<void>;
  readonly #events: A2aEvents;
  readonly #readers = new Set<AsyncQueue<object>>();
  /** Not kept beyond its end: the whole session hangs on it. */
  #turn: DialectTurn | undefined;

  constructor(turn: DialectTurn, now: () => number) {
    this.#turn = turn;
    this.#events = new A2aEvents({ taskId: turn.turnId, contextId: turn.sessionId, now });
    this.over = this.#read(turn);
  }

  get task(): A2aTask {
    return this.#events.task;
  }

  get isOver(): boolean {
    return this.#events.isOver;
  }

  /** The task as it is, then what changes, to its end. */
  watch(): AsyncQueue<object> {
    const queue: AsyncQueue<object> = new AsyncQueue({ capacity, onReturn: () => this.#readers.delete(queue) });
    queue.pushAnyway({ task: this.task });
    if (this.#turn) this.#readers.add(queue);
    else queue.end();
    return queue;
  }

  /** Resolves when it has ended, in whichever way. */
  async cancel(): Promise<void> {
    this.#turn?.cancel();
    await this.over;
  }

  async #read(turn: DialectTurn): Promise<void> {
    try {
      for await (const piece of turn.pieces) for (const told of this.#events.of(piece)) await this.#tell(told);
    } catch {
      // Told below, as a session that is closed.
    }
    for (const told of this.#events.close()) await this.#tell(told);
    this.#turn = undefined;
    for (const reader of [...this.#readers]) reader.end();
  }

  async #tell(event: object): Promise<void> {
    for (const reader of this.#readers) reader.pushAnyway(event);
    await Promise.all([...this.#readers].map((reader) => reader.room()));
  }
}

/** The latest tasks, by their ids. */
export class A2aTasks {
  readonly #runs = new Map<string, A2aRun>();

  add(run: A2aRun): void {
    this.#runs.set(run.task.id, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > remembered && oldest !== undefined) this.#runs.delete(oldest);
  }

  get(id: string): A2aRun {
    const run = this.#runs.get(id);
    if (!run) throw new A2aProblem(a2aErrors.taskNotFound, `There is no task ${id}`);
    return run;
  }

  get all(): A2aTask[] {
    return [...this.#runs.values()].map(({ task }) => task);
  }
}
