import type { PermissionGate } from "../../permissions/gate.ts";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Emit, EventBody } from "../../protocol/events.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import type { CancelCause } from "../../protocol/outcome.ts";
import type { BackgroundTaskManager } from "../../tasks/background/background-task-manager.ts";
import {
  type ExecutionWorkspaceEntry,
  type ExecutionWorkspaceFilter,
  type ExecutionWorkspaceSnapshot,
  filterExecutionWorkspaceEntries,
  toMainEntry,
} from "../../tasks/background/execution-entries.ts";
import type { ExecutionOrigin } from "../../tasks/background/execution-origin.ts";
import type { BackgroundJobGroupSummary } from "../../tasks/background/group-summary.ts";
import type { BackgroundJobGroupRequest, BackgroundJobOrchestrator } from "../../tasks/background/job-groups.ts";
import type {
  BackgroundTaskInput,
  BackgroundTaskListFilter,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskRequest,
} from "../../tasks/background/task-contract.ts";
import type { ExecutionWorkspaceTaskSpawner } from "../../tasks/background/task-spawner.ts";
import type { OpenSession } from "../create-session.ts";
import type { HistoryEntry } from "../past/history.ts";
import type { SessionOptions } from "../session-options.ts";
import { BackgroundWork, type TaskNotice } from "./background-work.ts";
import type { ExecutionWorkspaceDetail } from "./execution-detail.ts";
import { conversationOf } from "./execution-source.ts";
import type { FinishedWork, WorkCeilings } from "./finish-work.ts";
import type { TaskRegistry } from "./task-registry.ts";

/** What the tasks of a session need of it. */
export type TasksGround = {
  readonly sessionId: string;
  readonly emit: Emit;
  readonly flush: () => Promise<void>;
  readonly now: () => number;
  readonly open: () => Promise<OpenSession>;
  /** The opening, if there was one. */
  readonly opening: () => Promise<OpenSession> | undefined;
  /** As something a task does. */
  readonly emitOf: (event: EventBody, taskId: string) => void;
  readonly gate: PermissionGate;
  readonly options: () => SessionOptions;
  readonly title: () => string | undefined;
  readonly history: () => readonly HistoryEntry[];
  /** A turn is at work. */
  readonly isActive: () => boolean;
  /** No turn runs, and none is about to. */
  readonly isIdle: () => boolean;
  /** Begins a turn in which the model hears it. */
  readonly wake: (notice: TaskNotice) => void;
  readonly cancelled: () => CancelCause | undefined;
};

/** Work beside the conversation as programs see it: what a session says and does about its tasks. What it answers is on record by then. */
export class SessionTasks {
  readonly #ground: TasksGround;
  /** Nobody waits for an answer any more. */
  readonly #closing = new AbortController();
  #work: BackgroundWork | undefined;

  constructor(ground: TasksGround) {
    this.#ground = ground;
  }

  /** Takes over what an earlier process left. */
  async begin({ journal, taskFolder, deps, workspace }: OpenSession): Promise<void> {
    const { sessionId, emit, emitOf, flush, now, isIdle, gate, wake, options } = this.#ground;
    const { wakes, backgroundTaskRunners, answersPermissions } = options();
    this.#work = new BackgroundWork({
      ...{ sessionId, emit, emitOf, flush, now, isIdle, gate, workspace },
      answerable: answersPermissions ?? false,
      given: backgroundTaskRunners ?? [],
      past: journal.events,
      folder: taskFolder,
      mask: (text) => deps.redactor.text(text),
      wake: wakes === false ? undefined : wake,
      memory: deps.memory,
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
    this.#work?.hush(taskId);
    await this.cancel(taskId, "Somebody stopped it");
    return true;
  }

  async cancel(taskId: string, reason?: string): Promise<void> {
    await (await this.#manager()).cancel(taskId, reason);
    await this.#ground.flush();
  }

  async close(taskId: string): Promise<void> {
    (await this.#manager()).close(taskId);
    await this.#ground.flush();
  }

  /** Agents hear it; what a program is to read is judged like what the model writes to it, whoever asks for it. */
  async send(taskId: string, input: BackgroundTaskInput): Promise<void> {
    const { open, emit, flush } = this.#ground;
    const { manager } = await this.#registry();
    const task = manager.get(taskId);
    if (task?.kind !== "process" || task.completedAt !== undefined) return await manager.send(taskId, input);
    const { writeInput } = await import("./write-input.ts");
    const { deps } = await open();
    const background = (): Promise<TaskRegistry> => this.work.load();
    await writeInput({ taskId, input }, { ...deps, emit, flush, signal: this.#closing.signal, background });
  }

  async readLog(taskId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    return await (await this.#manager()).readLog(taskId, cursor);
  }

  /** A schedule does not come until it is resumed. */
  async pause(taskId: string): Promise<void> {
    (await this.#manager()).pause(taskId);
    await this.#ground.flush();
  }

  async resume(taskId: string): Promise<void> {
    (await this.#manager()).resume(taskId);
    await this.#ground.flush();
  }

  async createGroup(request: Omit<BackgroundJobGroupRequest, "parentSessionId">): Promise<BackgroundJobGroupState> {
    const group = (await this.#groups()).createGroup({ ...request, parentSessionId: this.#ground.sessionId });
    await this.#ground.flush();
    return group;
  }

  listGroups(): BackgroundJobGroupState[] {
    return this.#work?.registry?.groups.listGroups() ?? [];
  }

  getGroup(groupId: string): BackgroundJobGroupState | undefined {
    return this.#work?.registry?.groups.getGroup(groupId);
  }

  async waitGroup(groupId: string): Promise<BackgroundJobGroupState> {
    const group = await (await this.#groups()).waitGroup(groupId);
    await this.#ground.flush();
    return group;
  }

  async completeGroup(groupId: string): Promise<BackgroundJobGroupState> {
    const group = (await this.#groups()).completeGroup(groupId);
    await this.#ground.flush();
    return group;
  }

  /** Counts and lines of one of its groups. */
  summarizeGroup(group: BackgroundJobGroupState): BackgroundJobGroupSummary {
    const { registry } = this.work;
    if (!registry) throw new RuntimeError("not-found", `Unknown background job group: ${group.id}`);
    return registry.summarizeGroup(group);
  }

  /** Everything that goes on, for whoever shows it. Looking changes nothing. */
  snapshot(): ExecutionWorkspaceSnapshot {
    const { sessionId, title, isActive, history, now } = this.#ground;
    const facts = { sessionId, title: title(), isActive: isActive(), history: history(), now: now() };
    const source = { ...conversationOf(facts), tasks: this.list(), groups: this.listGroups() };
    return this.#work?.registry?.snapshotOf(source) ?? { sessionId, entries: [toMainEntry(source)] };
  }

  entries(filter?: ExecutionWorkspaceFilter): ExecutionWorkspaceEntry[] {
    return filterExecutionWorkspaceEntries(this.snapshot(), filter);
  }

  entry(id: string): ExecutionWorkspaceEntry | undefined {
    return this.snapshot().entries.find((entry) => entry.id === id);
  }

  async detail(id: string, cursor: BackgroundTaskLogCursor = { offset: 0 }): Promise<ExecutionWorkspaceDetail> {
    const entry = this.entry(id);
    if (!entry) throw new RuntimeError("not-found", `Unknown execution workspace entry: ${id}`);
    const { readDetail } = await import("./execution-detail.ts");
    return await readDetail(entry, cursor, {
      history: this.#ground.history,
      task: (taskId) => this.get(taskId),
      group: (groupId) => this.getGroup(groupId),
      readLog: (taskId, from) => this.readLog(taskId, from),
    });
  }

  /** Starts tasks whose entries say for whom they are. */
  spawner(origin: Omit<ExecutionOrigin, "sessionId">): ExecutionWorkspaceTaskSpawner {
    const { sessionId, options } = this.#ground;
    const whose = { ...origin, sessionId };
    const load = async (): Promise<ExecutionWorkspaceTaskSpawner> => {
      const { createExecutionWorkspaceTaskSpawner } = await import("../../tasks/background/task-spawner.ts");
      return createExecutionWorkspaceTaskSpawner(whose, {
        cwd: options().cwd,
        spawn: (request) => this.spawn(request),
        createGroup: (request) => this.createGroup(request),
      });
    };
    return {
      origin: whose,
      spawn: async (request) => await (await load()).spawn(request),
      createGroup: async (request) => await (await load()).createGroup(request),
    };
  }

  async spawn(request: BackgroundTaskRequest): Promise<BackgroundTaskState> {
    return await (await this.#manager()).spawn(request);
  }

  async finish(ceilings: WorkCeilings = {}): Promise<FinishedWork> {
    const work = this.#work;
    if (!work?.registry) return { stopped: [] };
    const { emit, flush, cancelled, opening } = this.#ground;
    const { finishWork } = await import("./finish-work.ts");
    const finished = await finishWork({ work, ceilings, emit, cancelled });
    // Tasks may have changed something since the last turn looked.
    const worktree = await (await opening())?.worktree?.inspect();
    if (worktree) emit({ type: "worktree.inspected", ...worktree });
    await flush().catch(() => {}); // every reader has been told
    return finished;
  }

  async shutdown(reason: string): Promise<void> {
    this.#closing.abort(new RuntimeError("closed", reason));
    await this.#work?.shutdown(reason);
  }

  async #manager(): Promise<BackgroundTaskManager> {
    return (await this.#registry()).manager;
  }

  async #groups(): Promise<BackgroundJobOrchestrator> {
    return (await this.#registry()).groups;
  }

  async #registry(): Promise<TaskRegistry> {
    await this.#ground.open();
    return await this.work.load();
  }
}
