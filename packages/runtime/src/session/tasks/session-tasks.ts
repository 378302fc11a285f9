import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Emit } from "../../protocol/events.ts";
import type { CancelCause } from "../../protocol/outcome.ts";
import type { BackgroundTaskManager } from "../../tasks/background/background-task-manager.ts";
import type {
  BackgroundTaskInput,
  BackgroundTaskListFilter,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
} from "../../tasks/background/task-contract.ts";
import type { OpenSession } from "../create-session.ts";
import { BackgroundWork, type TaskNotice } from "./background-work.ts";
import type { FinishedWork, WorkCeilings } from "./finish-work.ts";

/** What the tasks of a session need of it. */
export type TasksGround = {
  readonly sessionId: string;
  readonly emit: Emit;
  readonly flush: () => Promise<void>;
  readonly now: () => number;
  readonly open: () => Promise<OpenSession>;
  /** The opening, if there was one. */
  readonly opening: () => Promise<OpenSession> | undefined;
  /** No turn runs, and none is about to. */
  readonly isIdle: () => boolean;
  /** May tasks begin a turn? */
  readonly wakes: () => boolean;
  /** Begins a turn in which the model hears it. */
  readonly wake: (notice: TaskNotice) => void;
  readonly cancelled: () => CancelCause | undefined;
};

/** Work beside the conversation as programs see it: what a session says and does about its tasks. */
export class SessionTasks {
  readonly #ground: TasksGround;
  #work: BackgroundWork | undefined;

  constructor(ground: TasksGround) {
    this.#ground = ground;
  }

  /** Takes over what an earlier process left. */
  async begin({ journal, taskFolder, deps }: OpenSession): Promise<void> {
    const { sessionId, emit, flush, now, isIdle, wakes, wake } = this.#ground;
    this.#work = new BackgroundWork({
      ...{ sessionId, emit, flush, now, isIdle },
      past: journal.events,
      folder: taskFolder,
      mask: (text) => deps.redactor.text(text),
      wake: wakes() ? wake : undefined,
    });
    await this.#work.recover();
  }

  get work(): BackgroundWork {
    if (!this.#work) throw new RuntimeError("internal", "The session is not open");
    return this.#work;
  }

  /** A turn has ended, or nobody wants to wait any longer. */
  change(): void {
    this.#work?.change();
  }

  list(filter?: BackgroundTaskListFilter): BackgroundTaskState[] {
    return this.#work?.registry?.manager.list(filter) ?? [];
  }

  get(taskId: string): BackgroundTaskState | undefined {
    return this.#work?.registry?.manager.get(taskId);
  }

  async stop(taskId: string): Promise<boolean> {
    if ((await this.#ground.opening())?.subagents.stop(taskId)) return true;
    if (!this.list().some(({ id, completedAt }) => id === taskId && completedAt === undefined)) return false;
    await this.cancel(taskId, "Somebody stopped it");
    return true;
  }

  async cancel(taskId: string, reason?: string): Promise<void> {
    await (await this.#manager()).cancel(taskId, reason);
  }

  async close(taskId: string): Promise<void> {
    (await this.#manager()).close(taskId);
  }

  async send(taskId: string, input: BackgroundTaskInput): Promise<void> {
    await (await this.#manager()).send(taskId, input);
  }

  async readLog(taskId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    return await (await this.#manager()).readLog(taskId, cursor);
  }

  async finish(ceilings: WorkCeilings = {}): Promise<FinishedWork> {
    const work = this.#work;
    if (!work?.registry) return { stopped: [] };
    const { emit, flush, cancelled } = this.#ground;
    const { finishWork } = await import("./finish-work.ts");
    const finished = await finishWork({ work, ceilings, emit, cancelled });
    await flush().catch(() => {}); // every reader has been told
    return finished;
  }

  async shutdown(reason: string): Promise<void> {
    await this.#work?.shutdown(reason);
  }

  async #manager(): Promise<BackgroundTaskManager> {
    await this.#ground.open();
    return (await this.work.load()).manager;
  }
}
