import type { BackgroundTaskKind, BackgroundTaskResult, BackgroundTaskState } from "../../protocol/background-task.ts";
import { checkValue, having, listOf } from "../../protocol/kinds.ts";
import { defined } from "../../util/defined.ts";
import { Subscribers } from "../../util/subscribers.ts";
import { createBackgroundTaskLogPage } from "./log-lines.ts";
import type {
  BackgroundTaskEvent,
  BackgroundTaskIdFactory,
  BackgroundTaskInput,
  BackgroundTaskListFilter,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskRequest,
  BackgroundTaskRunner,
  BackgroundTaskRunnerEvent,
} from "./task-contract.ts";
import { BackgroundTaskError, toBackgroundTaskError } from "./task-error.ts";
import { newTask, type Task } from "./task-entry.ts";
import { TaskSlots } from "./task-slots.ts";
import { frozen, toScheduledRequest, toState, worktreeFields } from "./task-state.ts";
import { type BackgroundTaskTransition, isTerminal, transitionBackgroundTaskStatus } from "./task-status.ts";
import { type Overrun, systemClock, type TaskClock, TaskWatch } from "./task-watch.ts";

export type BackgroundTaskManagerOptions = {
  readonly runners: readonly BackgroundTaskRunner[];
  /** How many run at the same time; the others wait in their order. 4 when absent. */
  readonly maxConcurrent?: number | undefined;
  /** How deep tasks may start tasks; 1 when absent: only what is no task itself may. */
  readonly maxDepth?: number | undefined;
  /** `task_1`, `task_2` … when absent. */
  readonly newId?: BackgroundTaskIdFactory | undefined;
  readonly clock?: TaskClock | undefined;
  /** Resolves when what was told so far is on record: nothing is started before. */
  readonly recorded?: (() => Promise<void>) | undefined;
  /** May this be written to this process? Without it, everything may. */
  readonly admits?: ((taskId: string, input: BackgroundTaskInput) => boolean) | undefined;
};

const defaults = { maxConcurrent: 4, maxDepth: 1 };

/** The tasks of a session: which there are, which may run, and what becomes of each. How they run is up to runners. */
export class BackgroundTaskManager {
  readonly #options: BackgroundTaskManagerOptions;
  readonly #clock: TaskClock;
  readonly #runners: ReadonlyMap<BackgroundTaskKind, BackgroundTaskRunner>;
  readonly #tasks = new Map<string, Task>();
  readonly #subscribers = new Subscribers<BackgroundTaskEvent>("BackgroundTaskManager");
  readonly #slots: TaskSlots;
  #created = 0;
  #isClosed = false;

  constructor(options: BackgroundTaskManagerOptions) {
    checkValue("runners", Object(options).runners, listOf(having(["start"], "a runner { kind, start }"), "a list of runners"));
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#runners = new Map(options.runners.map((runner) => [runner.kind, runner]));
    this.#slots = new TaskSlots(options.maxConcurrent ?? defaults.maxConcurrent, (task) => void this.#start(task)); // never rejects: what fails is told of the task
  }

  /** Resolves when it runs, waits for others, or could not be started; its state says which. */
  async spawn(request: BackgroundTaskRequest): Promise<BackgroundTaskState> {
    const { newId, maxDepth = defaults.maxDepth } = this.#options;
    if (this.#isClosed) throw new BackgroundTaskError("runner", "The session is shut down");
    if (!this.#runners.has(request.kind))
      throw new BackgroundTaskError("validation", `No runner for tasks of the kind ${request.kind} is there`);
    if (request.depth > maxDepth)
      throw new BackgroundTaskError("capacity", `Tasks may be started ${maxDepth} deep, and this one is ${request.depth}`);
    const id = newId?.(request) ?? `task_${++this.#created}`;
    if (this.#tasks.has(id)) throw new BackgroundTaskError("validation", `There is a task ${id} already`);
    const task = newTask(toState(id, request, this.#time()), request);
    this.#tasks.set(id, task);
    this.#tell(task, "created");
    if (this.#slots.isFree) await this.#start(task);
    else this.#slots.wait(task);
    return task.state;
  }

  /** Its result; rejects when it failed or was cancelled. */
  async wait(taskId: string): Promise<BackgroundTaskResult> {
    const task = this.#find(taskId);
    await task.ended;
    const { status, result, error } = task.state;
    if (status === "completed" && result) return result;
    const { category, message, recoverable } = error ?? {
      category: "runner",
      message: `Task ${taskId} ${status}`,
      recoverable: false,
    };
    throw new BackgroundTaskError(category, message, { recoverable });
  }

  /** In the order in which they were made. */
  list({ kind, status, parentSessionId }: BackgroundTaskListFilter = {}): BackgroundTaskState[] {
    const statuses = typeof status === "string" ? [status] : status;
    return [...this.#tasks.values()]
      .filter(
        ({ state }) =>
          (kind === undefined || state.kind === kind) &&
          (statuses === undefined || statuses.includes(state.status)) &&
          (parentSessionId === undefined || state.parentSessionId === parentSessionId),
      )
      .map(({ state }) => state);
  }

  get(taskId: string): BackgroundTaskState | undefined {
    return this.#tasks.get(taskId)?.state;
  }

  /** Resolves when nothing of it is left. One that has ended stays as it is. */
  async cancel(taskId: string, reason?: string): Promise<void> {
    const task = this.#find(taskId);
    if (!isTerminal(task.state.status)) {
      task.cancelled = reason ?? "It was cancelled";
      this.#slots.drop(task);
      this.#end(task, "CANCEL", { error: { category: "runner", message: task.cancelled, recoverable: false } });
      task.gone = this.#letGo(task, task.cancelled);
    }
    await task.gone;
  }

  /** Forgets a task that has ended. */
  close(taskId: string): void {
    const { state } = this.#find(taskId);
    if (!isTerminal(state.status)) throw new BackgroundTaskError("validation", "Cannot close active background task");
    this.#tasks.delete(taskId);
    this.#notify({ type: "background_task_closed", taskId });
  }

  async send(taskId: string, input: BackgroundTaskInput): Promise<void> {
    const { state, handle } = this.#find(taskId);
    if (!handle?.send) throw new BackgroundTaskError("validation", `Task ${taskId} takes no input`);
    if (isTerminal(state.status) && state.kind !== "agent")
      throw new BackgroundTaskError("validation", `Task ${taskId} has ended and takes no input`);
    if (state.kind === "process" && this.#options.admits?.(taskId, input) === false)
      throw new BackgroundTaskError("permission", `Nobody has judged what would be written to ${taskId}`);
    await handle.send(input);
  }

  async readLog(taskId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    const { state, handle } = this.#find(taskId);
    if (handle?.readLog) return await handle.readLog(cursor);
    return createBackgroundTaskLogPage(taskId, [], { cursor, isOpen: !isTerminal(state.status) });
  }

  /** The answer to what a task waits for. */
  answerPermission(taskId: string, requestId: string, isAllowed: boolean): void {
    const task = this.#find(taskId);
    if (task.state.status !== "waiting_permission" || !task.questions.has(requestId))
      throw new BackgroundTaskError("validation", `Task ${taskId} waits for no answer to ${requestId}`);
    if (!task.handle) return void task.starting?.then(() => this.answerPermission(taskId, requestId, isAllowed)).catch(() => {});
    task.handle.answerPermission?.(requestId, isAllowed);
    if (isAllowed || task.handle.answerPermission)
      return this.#hear(task, { type: "background_task_permission_resolved", requestId, allowed: isAllowed });
    const message = "It was not permitted what it asked for";
    this.#end(task, "PERMISSION_DENIED", { error: { category: "permission", message, recoverable: true } });
    task.gone = this.#letGo(task, message);
  }

  /** Somebody was told how it ended. */
  markRead(taskId: string): void {
    const task = this.#tasks.get(taskId);
    if (!task?.state.unread) return;
    this.#change(task, { unread: false });
    this.#tell(task, "updated");
  }

  /** Takes over a task of an earlier process; it has ended. */
  restore(state: BackgroundTaskState): void {
    const request = { ...state, kind: "process", command: state.commandPreview ?? "" } as const;
    this.#tasks.set(state.id, { ...newTask(state, request), ended: Promise.resolve() });
  }

  /** Takes over a schedule of an earlier process: it goes on as it was. Nothing is told before it sleeps again. */
  async rearm({ schedule, ...state }: BackgroundTaskState): Promise<void> {
    if (!schedule) throw new BackgroundTaskError("validation", `Task ${state.id} is no schedule`);
    const { nextFireAt, ...asleep } = state;
    const dueAt = state.status === "paused" ? undefined : nextFireAt; // what is paused misses nothing
    const task = newTask({ ...asleep, schedule, status: "running" }, toScheduledRequest({ ...asleep, schedule }, dueAt));
    this.#tasks.set(state.id, task);
    this.#slots.take(task);
    await this.#run(task);
    if (state.status === "paused" && task.state.status === "sleeping") this.pause(state.id);
  }

  /** The answered function ends it. A listener that throws is warned of once (`OutriderListenerError`). */
  subscribe(listener: (event: BackgroundTaskEvent) => void): () => void {
    return this.#subscribers.add(listener);
  }

  /**
   * Cancels everything, and resolves when nothing of it is left. What `keeps` says yes to is let go as it is, for another process to take over.
   */
  async shutdown(
    reason: string = "The session was shut down",
    keeps: (task: BackgroundTaskState) => boolean = () => false,
  ): Promise<void> {
    this.#isClosed = true;
    this.#slots.close();
    const all = [...this.#tasks.values()];
    for (const task of all.filter(({ state }) => !isTerminal(state.status)))
      if (keeps(task.state)) task.gone = this.#letGo(task, reason);
      else void this.cancel(task.state.id, reason).catch(() => {});
    await Promise.allSettled(all.map(({ gone }) => gone));
  }

  /** A schedule does not come until it is resumed. */
  pause(taskId: string): void {
    const task = this.#find(taskId);
    if (!task.handle?.pause) throw new BackgroundTaskError("validation", `Task ${taskId} cannot be paused`);
    this.#apply(task, "PAUSE", { nextFireAt: undefined });
    task.handle.pause();
    this.#slots.leave(task);
    this.#tell(task, "updated");
  }

  resume(taskId: string): void {
    const task = this.#find(taskId);
    if (!task.handle?.resume) throw new BackgroundTaskError("validation", `Task ${taskId} cannot be resumed`);
    this.#apply(task, "RESUME");
    task.handle.resume();
    this.#tell(task, "updated");
  }

  async #start(task: Task): Promise<void> {
    this.#slots.take(task);
    this.#apply(task, "START", { startedAt: this.#time(), lastActivityAt: this.#time() });
    this.#tell(task, "started");
    await this.#run(task);
  }

  async #run(task: Task): Promise<void> {
    try {
      await this.#options.recorded?.();
      if (isTerminal(task.state.status)) return;
      const started = this.#runners.get(task.request.kind)?.start({
        taskId: task.state.id,
        request: task.request as never, // of the runner's own kind
        emit: (event) => this.#hear(task, event),
        signal: task.stopping.signal,
      });
      task.starting = Promise.resolve(started).then(nothing, nothing);
      const handle = await started;
      if (!handle) throw new BackgroundTaskError("runner", "There is no runner for it any more");
      task.handle = handle;
      const { pid, logPath, transcriptPath } = handle;
      if (isTerminal(task.state.status)) {
        return void (await task.gone);
      }
      this.#change(task, defined({ pid, logPath, transcriptPath }));
      if (pid !== undefined || logPath !== undefined) this.#tell(task, "updated");
      task.watch = new TaskWatch(task.request, this.#clock, (overrun) => this.#overrun(task, overrun));
      if (task.state.status !== "running") task.watch.pause(); // what it waits for was told before there was a watch
      handle.result.then((result) => this.#complete(task, result)).catch((error: unknown) => this.#fail(task, error));
    } catch (error) {
      this.#fail(task, error);
    }
  }

  #complete(task: Task, given: BackgroundTaskResult): void {
    if (isTerminal(task.state.status)) return;
    const result = structuredClone(given);
    const worktree = worktreeFields(result);
    if (result.kind === "process" && result.exitCode !== 0) {
      const how = result.signalCode === undefined ? `exit code ${result.exitCode ?? "unknown"}` : `signal ${result.signalCode}`;
      return this.#end(task, "FAIL", {
        ...worktree,
        result,
        error: { category: "process", message: `The command failed with ${how}`, recoverable: true },
      });
    }
    this.#end(task, "COMPLETE", { ...worktree, result });
  }

  #fail(task: Task, thrown: unknown): void {
    if (isTerminal(task.state.status)) return;
    this.#end(task, "FAIL", { error: toBackgroundTaskError(thrown).toJSON() });
  }

  #overrun(task: Task, { reason, message }: Overrun): void {
    if (isTerminal(task.state.status)) return;
    this.#end(task, "FAIL", { timeoutReason: reason, error: { category: "timeout", message, recoverable: true } });
    task.gone = this.#letGo(task, message);
  }

  #end(task: Task, event: BackgroundTaskTransition, change: Partial<BackgroundTaskState>): void {
    if (event === "COMPLETE" || event === "FAIL") this.#rouse(task);
    this.#apply(task, event, { ...change, completedAt: this.#time(), unread: task.state.mode === "background" });
    task.watch?.stop();
    task.watch = undefined;
    task.onEnded();
    if (task.state.status === "completed" || task.state.status === "failed" || task.state.status === "cancelled")
      this.#tell(task, task.state.status);
    this.#slots.leave(task);
  }

  /** Whatever it waited for, it has ended. */
  #rouse(task: Task): void {
    const { status } = task.state;
    if (status === "waiting_permission") this.#apply(task, "PERMISSION_ALLOWED");
    if (status === "sleeping" || status === "paused") this.#wake(task);
  }

  async #letGo(task: Task, reason: string | undefined): Promise<void> {
    task.stopping.abort();
    if (!task.handle) await task.starting;
    task.handle?.result.catch(() => {}); // it has ended already
    await task.handle?.cancel(reason).catch(() => {}); // what cannot be ended is swept with the session
  }

  /** What a runner tells; it cannot end a task by that. */
  #hear(task: Task, event: BackgroundTaskRunnerEvent): void {
    if (isTerminal(task.state.status)) return;
    task.watch?.touch();
    const lastActivityAt = this.#time();
    switch (event.type) {
      case "background_task_text_delta":
        this.#change(task, { lastActivityAt });
        this.#notify({ ...event, taskId: task.state.id });
        return task.watch?.text(event.delta);
      case "background_task_tool_start":
        this.#change(task, { lastActivityAt, currentAction: [event.toolName, event.firstArg].filter(Boolean).join(" ") });
        break;
      case "background_task_tool_end":
        this.#change(task, {
          lastActivityAt,
          currentAction: event.success ? undefined : (event.error ?? `${event.toolName} failed`),
        });
        break;
      case "background_task_permission_request":
        task.questions.add(event.requestId);
        if (task.questions.size > 1) break; // it waits already
        this.#apply(task, "REQUEST_PERMISSION", { lastActivityAt, currentAction: `Waits for permission: ${event.toolName}` });
        task.watch?.pause();
        this.#tell(task, "updated");
        break;
      case "background_task_permission_resolved":
        // A refused call is the agent's to deal with; a task that ends by it says so with its result.
        if (!task.questions.delete(event.requestId)) return;
        if (task.questions.size > 0) break;
        this.#apply(task, "PERMISSION_ALLOWED", { lastActivityAt, currentAction: undefined });
        task.watch?.resume();
        this.#tell(task, "updated");
        break;
      case "background_task_sleeping":
        if (task.state.status === "sleeping") this.#change(task, { nextFireAt: event.nextFireAt });
        else this.#apply(task, "SLEEP", { lastActivityAt, nextFireAt: event.nextFireAt });
        task.watch?.pause();
        this.#slots.leave(task);
        this.#tell(task, "updated");
        break;
      case "background_task_waking":
        this.#wake(task);
        break;
    }
    this.#notify({ ...event, taskId: task.state.id });
  }

  #wake(task: Task): void {
    if (task.state.status === "paused") this.#apply(task, "RESUME");
    this.#apply(task, "WAKE", { lastActivityAt: this.#time(), nextFireAt: undefined });
    this.#slots.take(task); // its time has come, however many run
    task.watch?.resume();
    this.#tell(task, "updated");
  }

  #apply(task: Task, event: BackgroundTaskTransition, change: Changes = {}): void {
    this.#change(task, { ...change, status: transitionBackgroundTaskStatus(task.state.status, event) });
  }

  #change(task: Task, change: Changes): void {
    task.state = frozen(defined({ ...task.state, ...change, updatedAt: this.#time() }) as BackgroundTaskState); // what it must have, it had
  }

  #find(taskId: string): Task {
    const task = this.#tasks.get(taskId);
    if (!task) throw new BackgroundTaskError("validation", `Unknown background task: ${taskId}`);
    return task;
  }

  #tell(task: Task, what: "created" | "started" | "updated" | "completed" | "failed" | "cancelled"): void {
    this.#notify({ type: `background_task_${what}`, task: task.state });
  }

  #notify(event: BackgroundTaskEvent): void {
    this.#subscribers.tell(event);
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

const nothing = (): void => {};

/** `undefined` takes a field away. */
type Changes = { readonly [Key in keyof BackgroundTaskState]?: BackgroundTaskState[Key] | undefined };
