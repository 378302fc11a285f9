import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type {
  BackgroundJobGroupEvent,
  BackgroundJobGroupState,
  BackgroundJobResult,
  BackgroundJobWaitPolicy,
} from "../../protocol/job-group.ts";
import { checkValue, having } from "../../protocol/kinds.ts";
import { defined } from "../../util/defined.ts";
import { Subscribers } from "../../util/subscribers.ts";
import type { BackgroundTaskEvent } from "./task-contract.ts";
import { BackgroundTaskError } from "./task-error.ts";
import { isTerminal } from "./task-status.ts";

/** Where a group looks at its tasks. */
export interface GroupedTasks {
  get(taskId: string): BackgroundTaskState | undefined;
  subscribe(listener: (event: BackgroundTaskEvent) => void): () => void;
}

export type BackgroundJobOrchestratorOptions = {
  readonly tasks: GroupedTasks;
  /** `group_1`, `group_2` … when absent. */
  readonly newId?: (() => string) | undefined;
  /** Milliseconds since 1970; the system's clock when absent. */
  readonly now?: (() => number) | undefined;
};

export type BackgroundJobGroupRequest = {
  readonly parentSessionId: string;
  readonly waitPolicy: BackgroundJobWaitPolicy;
  /** Tasks that are there already. */
  readonly taskIds: readonly string[];
  readonly label?: string | undefined;
};

const summaryLength = 1000;

type Group = { state: BackgroundJobGroupState; readonly ended: Promise<void>; readonly onEnded: () => void };

/** Groups of tasks and what is waited for. It starts and ends no task: it only looks at what the registry says of them. */
export class BackgroundJobOrchestrator {
  readonly #tasks: GroupedTasks;
  readonly #options: BackgroundJobOrchestratorOptions;
  readonly #groups = new Map<string, Group>();
  readonly #subscribers = new Subscribers<BackgroundJobGroupEvent>("BackgroundJobOrchestrator");
  readonly #leave: () => void;
  #created = 0;

  constructor(options: BackgroundJobOrchestratorOptions) {
    checkValue(
      "tasks",
      Object(options).tasks,
      having(["get", "subscribe"], "the tasks of a session, such as a BackgroundTaskManager"),
    );
    this.#options = options;
    this.#tasks = options.tasks;
    this.#leave = options.tasks.subscribe((event) => this.#hear(event));
  }

  /** A group of no tasks is over at once; nobody can wait for any of none. */
  createGroup({ parentSessionId, waitPolicy, taskIds, label }: BackgroundJobGroupRequest): BackgroundJobGroupState {
    const ids = [...new Set(taskIds)];
    if (waitPolicy === "wait_any" && ids.length === 0)
      throw new BackgroundTaskError("validation", "wait_any needs at least one task");
    const unknown = ids.filter((id) => this.#tasks.get(id) === undefined);
    if (unknown.length > 0) throw new BackgroundTaskError("validation", `Unknown background task: ${unknown.join(", ")}`);
    const now = this.#time();
    const id = this.#options.newId?.() ?? `group_${++this.#created}`;
    if (this.#groups.has(id)) throw new BackgroundTaskError("validation", `There is a group ${id} already`);
    const base = { id, parentSessionId, waitPolicy, taskIds: ids, createdAt: now, updatedAt: now, ...defined({ label }) };
    const group = this.#add({ ...base, status: "running", results: [] });
    this.#notify("created", group);
    this.#look(group);
    return group.state;
  }

  /**
   * Brings a group of an earlier process back. Tasks that nobody knows any more count as failed, so that a group of theirs comes to its end.
   */
  restoreGroup(state: BackgroundJobGroupState): BackgroundJobGroupState {
    const number = /^group_(\d+)$/.exec(state.id)?.[1];
    if (number !== undefined) this.#created = Math.max(this.#created, Number(number));
    const group = this.#add(state);
    if (state.status === "completed") group.onEnded();
    else this.#look(group);
    return group.state;
  }

  /** In the order in which they were made. */
  listGroups(): BackgroundJobGroupState[] {
    return [...this.#groups.values()].map(({ state }) => state);
  }

  getGroup(groupId: string): BackgroundJobGroupState | undefined {
    return this.#groups.get(groupId)?.state;
  }

  /** Resolves when the group is over. */
  async waitGroup(groupId: string): Promise<BackgroundJobGroupState> {
    const group = this.#find(groupId);
    await group.ended;
    return group.state;
  }

  /** Ends a group whatever its tasks do; they go on. The only end of a `manual` one. */
  completeGroup(groupId: string): BackgroundJobGroupState {
    const group = this.#find(groupId);
    if (group.state.status === "running") this.#complete(group, this.#resultsOf(group.state));
    return group.state;
  }

  subscribe(listener: (event: BackgroundJobGroupEvent) => void): () => void {
    return this.#subscribers.add(listener);
  }

  /** No group hears of its tasks any more. */
  close(): void {
    this.#leave();
  }

  #hear(event: BackgroundTaskEvent): void {
    const id = "task" in event ? event.task.id : event.type === "background_task_closed" ? event.taskId : undefined;
    if (id === undefined) return;
    for (const group of this.#groups.values())
      if (group.state.status === "running" && group.state.taskIds.includes(id)) this.#look(group);
  }

  #look(group: Group): void {
    const { state } = group;
    const results = this.#resultsOf(state);
    if (isOver(state, results.length)) return this.#complete(group, results);
    if (results.length === state.results.length) return;
    group.state = freeze({ ...state, results, updatedAt: this.#time() });
    this.#notify("updated", group);
  }

  #complete(group: Group, results: readonly BackgroundJobResult[]): void {
    const now = this.#time();
    group.state = freeze({ ...group.state, results, status: "completed", updatedAt: now, completedAt: now });
    this.#notify("completed", group);
    group.onEnded();
  }

  /** What was told of a task stays told, also when the registry has forgotten it since. */
  #resultsOf({ taskIds, results }: BackgroundJobGroupState): BackgroundJobResult[] {
    const told = new Map(results.map((result) => [result.taskId, result]));
    return taskIds.flatMap((taskId) => {
      const task = this.#tasks.get(taskId);
      if (task) return isTerminal(task.status) ? [toResult(task)] : [];
      return [told.get(taskId) ?? gone(taskId)];
    });
  }

  #add(state: BackgroundJobGroupState): Group {
    let onEnded = (): void => {};
    const ended = new Promise<void>((resolve) => {
      onEnded = resolve;
    });
    const group: Group = { state: freeze(state), ended, onEnded };
    this.#groups.set(state.id, group);
    return group;
  }

  #find(groupId: string): Group {
    const group = this.#groups.get(groupId);
    if (!group) throw new BackgroundTaskError("validation", `Unknown background job group: ${groupId}`);
    return group;
  }

  #notify(what: "created" | "updated" | "completed", { state }: Group): void {
    this.#subscribers.tell({ type: `background_job_group_${what}`, group: state });
  }

  #time(): string {
    return new Date((this.#options.now ?? Date.now)()).toISOString();
  }
}

function isOver({ waitPolicy, taskIds }: BackgroundJobGroupState, ended: number): boolean {
  if (waitPolicy === "manual") return false;
  return waitPolicy === "wait_any" ? ended > 0 : ended === taskIds.length;
}

function toResult({
  id,
  label,
  status,
  result,
  error,
  logPath,
  startedAt,
  completedAt,
}: BackgroundTaskState): BackgroundJobResult {
  const output = result?.output.trim() ?? "";
  const summary = output.length > summaryLength ? `${output.slice(0, summaryLength)}...` : output;
  return {
    ...{ taskId: id, label, status },
    ...(summary !== "" && { summary }),
    ...defined({ outputRef: logPath, error, startedAt, completedAt }),
  };
}

/** The registry has no record of it: its process is gone, and how it went is not known. */
function gone(taskId: string): BackgroundJobResult {
  const message = "Restored background task is stale; worker cannot be reattached";
  return { taskId, label: taskId, status: "failed", error: { category: "crash", message, recoverable: false } };
}

function freeze(state: BackgroundJobGroupState): BackgroundJobGroupState {
  Object.freeze(state.results);
  Object.freeze(state.taskIds);
  return Object.freeze(state);
}
