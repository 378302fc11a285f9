import type { StoredEvents } from "../../journal/store.ts";
import type { Emit, EventBody, TaskStopper } from "../../protocol/events.ts";
import type {
  AgentTaskRequest,
  BackgroundTaskEvent,
  BackgroundTaskRequest,
  BackgroundTaskRunner,
  BackgroundTaskStart,
  ProcessTaskRequest,
} from "../../tasks/background/task-contract.ts";
import { toRunId } from "../../tasks/background/run-id.ts";
import type { PermissionGate } from "../../permissions/gate.ts";
import type { BackgroundTaskMetadata, BackgroundTaskState } from "../../protocol/background-task.ts";
import { BackgroundTaskManager } from "../../tasks/background/background-task-manager.ts";
import type { ExecutionWorkspaceSnapshot, ExecutionWorkspaceSource } from "../../tasks/background/execution-entries.ts";
import { createExecutionWorkspaceSnapshot } from "../../tasks/background/execution-workspace.ts";
import { type BackgroundJobGroupSummary, summarizeBackgroundJobGroup } from "../../tasks/background/group-summary.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { originToMetadata } from "../../tasks/background/execution-origin.ts";
import type { BackgroundJobOrchestrator } from "../../tasks/background/job-groups.ts";
import { isTerminal } from "../../tasks/background/task-status.ts";
import { systemClock, type TaskClock } from "../../tasks/background/task-watch.ts";
import type { BackgroundTasks, ProcessSpec, ScheduleSpec, TaskNews, TaskWait } from "../../tasks/task.ts";
import { type TaskInputs, taskInputsOf } from "../../tools/task-inputs.ts";
import { ToolFailure, type ToolMemory } from "../../tools/tool.ts";
import { defined } from "../../util/defined.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { awaitNews } from "./await-news.ts";
import type { WakeUp } from "./background-work.ts";
import type { RunningTask } from "./process-runner.ts";
import { openGroups, openGroupsOf } from "./record-groups.ts";
import { lastNumber, recoverTasks } from "./recover-tasks.ts";
import { toNotice } from "./task-notice.ts";
import { TaskQuestions } from "./task-questions.ts";
import { createRunners } from "./task-runners.ts";

export type RegistryOptions = {
  readonly sessionId: string;
  /** What the journal held when the session was opened. */
  readonly past: StoredEvents;
  /** The folder for outputs. */
  readonly folder: string;
  readonly mask: (text: string) => string;
  readonly emit: Emit;
  /** The same, as something a task does. */
  readonly emitOf: (event: EventBody, taskId: string) => void;
  readonly workspace: Workspace;
  /** Knows what was written to its commands. */
  readonly memory: ToolMemory;
  /** Runners of the program. */
  readonly given: readonly BackgroundTaskRunner[];
  readonly gate: PermissionGate;
  /** Is somebody there who answers questions? */
  readonly answerable: boolean;
  readonly flush: () => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A task in the background has ended, and the model does not know. */
  readonly onUntold: (task: BackgroundTaskState) => void;
  /** The model is to hear something of a task that goes on. */
  readonly onDue: (wakeUp: WakeUp) => void;
  /** Something has begun or ended. */
  readonly onChange: () => void;
};

export type AgentStarter = {
  /** It has an id from now on, also while it waits for others to end. */
  readonly named: (taskId: string) => void;
  /** Its files go to the folder of the session's tasks. */
  readonly start: (
    start: BackgroundTaskStart<AgentTaskRequest>,
    files: { readonly folder: string; readonly sessionId: string },
  ) => Promise<RunningTask>;
};

/** Processes and agents beside each other; more wait. */
const maxConcurrent = 16;
/** Of what is new: as much as the model is shown. */
const newsBytes = 30_000;

/** The tasks of one session: kept in its journal, and never longer than it. */
export class TaskRegistry implements BackgroundTasks {
  readonly manager: BackgroundTaskManager;
  readonly groups: BackgroundJobOrchestrator;
  readonly #questions: TaskQuestions;
  readonly #inputs: TaskInputs;
  readonly #options: RegistryOptions;
  readonly #specs = new WeakMap<ProcessTaskRequest, ProcessSpec>();
  readonly #agents = new WeakMap<AgentTaskRequest, AgentStarter>();
  readonly #ownAgents = new Set<string>();
  readonly #running = new Map<string, RunningTask>();
  /** Whoever stops them knows that they end. */
  readonly #stopping = new Map<string, TaskStopper>();
  /** Not ended, or ended and not told of. */
  readonly #open = new Set<string>();
  /** How far the model has read. */
  readonly #read = new Map<string, number>();
  #number: number;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#number = lastNumber(options.past);
    this.#inputs = taskInputsOf(options.memory);
    const { folder, mask, workspace, given, onDue, now } = options;
    const clock = systemClockAt(now);
    this.manager = new BackgroundTaskManager({
      runners: createRunners({
        ...{ folder, mask, workspace, given, onDue, clock },
        agent: (start) => {
          const starter = this.#agents.get(start.request);
          if (starter) this.#ownAgents.add(start.taskId);
          return starter?.start(start, { folder, sessionId: options.sessionId });
        },
        specOf: (request) => this.#specs.get(request),
        onRunning: (taskId, task) => this.#running.set(taskId, task),
        spawn: (request) => this.manager.spawn(request),
      }),
      maxConcurrent,
      newId: (request) => this.#name(request),
      clock,
      recorded: options.flush,
      admits: (taskId, input) => this.#inputs.admits(taskId, input),
    });
    this.groups = openGroups({ tasks: this.manager, past: options.past, emit: options.emit, now });
    this.#questions = new TaskQuestions({
      ...{ gate: options.gate, answerable: options.answerable, emit: options.emitOf },
      answer: (taskId, requestId, isAllowed) => this.manager.answerPermission(taskId, requestId, isAllowed),
    });
    this.manager.subscribe((event) => this.#record(event));
  }

  /** What an earlier process left: each task is told of once. */
  async recover(): Promise<void> {
    const { past, now, emit, onUntold } = this.#options;
    const { ended, untold, asleep } = recoverTasks(past, new Date(now()).toISOString());
    for (const { id } of asleep) this.#open.add(id);
    for (const task of [...untold, ...ended]) {
      this.manager.restore(task);
      if (!task.unread) continue;
      this.#open.add(task.id);
      onUntold(task);
    }
    for (const { id } of ended) {
      const task = this.manager.get(id);
      if (task) emit({ type: "background.ended", task, ...this.#idle() });
    }
    for (const task of asleep) await this.manager.rearm(task);
    for (const group of openGroupsOf(past)) this.groups.restoreGroup(group);
  }

  /** Schedules are left as they are: they go on when the session is opened again. */
  async shutdown(reason: string): Promise<void> {
    await this.manager.shutdown(reason, ({ kind }) => kind === "scheduled");
    this.groups.close();
  }

  get active(): BackgroundTaskState[] {
    return this.manager.list().filter(({ status }) => !isTerminal(status));
  }

  /** What the model is told of tasks that have ended. */
  noticeOf(tasks: readonly BackgroundTaskState[]): string {
    return toNotice(tasks);
  }

  async startProcess(spec: ProcessSpec): Promise<BackgroundTaskState> {
    const { command, label, cwd, maxRuntimeMs, matchPattern, callId } = spec;
    const request: ProcessTaskRequest = {
      ...{ kind: "process", label, mode: "background", parentSessionId: this.#options.sessionId, depth: 1, cwd, command },
      ...defined({ maxRuntimeMs, matchPattern }),
      metadata: { callId, runId: toRunId(this.#options.now(), randomUuid()), ...this.#originOf(callId) },
    };
    this.#specs.set(request, spec);
    const task = await this.manager.spawn(request);
    if (task.status === "queued" && spec.drop) this.#dropUnstarted(task.id, spec.drop);
    if (task.status === "failed") this.manager.markRead(task.id); // whoever asked is told by the answer
    return task;
  }

  #dropUnstarted(taskId: string, drop: () => void): void {
    const leave = this.manager.subscribe((event) => {
      if (!("task" in event) || event.task.id !== taskId || event.task.status === "queued") return;
      leave();
      if (event.task.startedAt === undefined) drop();
    });
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  async startAgent(request: AgentTaskRequest, starter: AgentStarter): Promise<BackgroundTaskState> {
    this.#agents.set(request, starter);
    const task = await this.manager.spawn(request);
    this.#read.delete(task.id); // an agent that works again is heard from its beginning
    if (task.status === "failed") this.manager.markRead(task.id); // whoever asked is told by the answer
    return task;
  }

  #name(request: BackgroundTaskRequest): string {
    const id = String(request.metadata?.["agentId"] ?? `${request.kind}_${++this.#number}`);
    if (request.kind === "agent") this.#agents.get(request)?.named(id);
    if (request.kind === "process") this.#inputs.begin(id, isShell(request.shell) ? request : { command: "bash" });
    return id;
  }

  async schedule({ callId, instruction, metadata, ...spec }: ScheduleSpec): Promise<BackgroundTaskState> {
    const task = await this.manager.spawn({
      ...{ ...spec, kind: "scheduled", mode: "background", parentSessionId: this.#options.sessionId, depth: 1 },
      ...{ agentInstruction: instruction, metadata: { ...metadata, callId, ...this.#originOf(callId) } },
    });
    if (!isTerminal(task.status)) return task;
    this.manager.markRead(task.id); // whoever asked is told by the answer
    throw new ToolFailure(task.error?.message ?? `${JSON.stringify(spec.cronExpression)} never comes: that time is over.`);
  }

  #originOf(toolCallId: string): BackgroundTaskMetadata {
    return originToMetadata({ kind: "tool_call", sessionId: this.#options.sessionId, toolCallId });
  }

  /** By its id, or the newest agent that was given this name. */
  get(taskId: string): BackgroundTaskState {
    const task = this.manager.get(taskId) ?? this.manager.list().findLast(({ metadata }) => metadata?.["name"] === taskId);
    if (task) return task;
    const known = this.manager.list().map(({ id, status }) => `${id} (${status})`);
    const there = known.length > 0 ? `There are: ${known.slice(-10).join(", ")}.` : "No task was started in this session.";
    throw new ToolFailure(`There is no task ${JSON.stringify(taskId)}. ${there}`);
  }

  list(): BackgroundTaskState[] {
    return this.manager.list();
  }

  async news(named: string, wait: TaskWait): Promise<TaskNews> {
    const { id: taskId } = this.get(named);
    const from = this.#read.get(taskId) ?? 0;
    const because = await awaitNews(
      {
        task: () => this.get(taskId),
        output: this.#running.get(taskId)?.output,
        from,
        onChange: (look) => this.manager.subscribe((event) => "task" in event && event.task.id === taskId && look()),
      },
      wait,
    );
    const task = this.get(taskId);
    const output = this.#running.get(taskId)?.output; // it may have begun meanwhile
    const size = output?.size ?? 0;
    const start = Math.max(from, size - newsBytes);
    const { text, next } = (await output?.read(start, size - start)) ?? { text: task.result?.output ?? "", next: 0 };
    this.#read.set(taskId, next);
    if (isTerminal(task.status)) this.manager.markRead(taskId);
    return { task, text, omittedBytes: start - from, because };
  }

  async send(named: string, input: string): Promise<void> {
    const { id: taskId } = this.get(named);
    await this.manager.send(taskId, input).catch((error: unknown) => {
      throw new ToolFailure(error instanceof Error ? `${error.message}.` : String(error), { cause: error });
    });
  }

  async stop(named: string, reason: string, by: TaskStopper = "model"): Promise<BackgroundTaskState> {
    const { id: taskId } = this.get(named);
    this.#stopping.set(taskId, by);
    await this.manager.cancel(taskId, reason);
    this.manager.markRead(taskId); // it had ended before
    this.#stopping.delete(taskId);
    return this.get(taskId);
  }

  summarizeGroup(group: BackgroundJobGroupState): BackgroundJobGroupSummary {
    return summarizeBackgroundJobGroup(group);
  }

  snapshotOf(source: ExecutionWorkspaceSource): ExecutionWorkspaceSnapshot {
    return createExecutionWorkspaceSnapshot(source);
  }

  /** Ends all that is open, and answers what that was. Nobody is told of them any more. */
  async stopAll(reason: string): Promise<BackgroundTaskState[]> {
    const active = this.active.filter(({ schedule }) => !schedule || schedule.recurring === false);
    await Promise.all(active.map(({ id }) => this.stop(id, reason, "run")));
    return active.map(({ id }) => this.get(id));
  }

  #record(event: BackgroundTaskEvent): void {
    const { emit, onUntold, onChange } = this.#options;
    if ("task" in event) this.#follow(event.task);
    switch (event.type) {
      case "background_task_created":
        emit({ type: "background.created", task: event.task });
        break;
      case "background_task_started":
        emit({ type: "background.started", task: event.task });
        break;
      case "background_task_updated":
        emit({ type: "background.updated", task: event.task, ...this.#idle() });
        break;
      case "background_task_completed":
      case "background_task_failed":
      case "background_task_cancelled":
        emit({ type: "background.ended", task: event.task, ...this.#idle(), ...this.#by(event.task) });
        this.#questions.drop(event.task.id);
        if (this.#stopping.has(event.task.id) || hasCome(event.task)) this.manager.markRead(event.task.id);
        else if (event.task.unread) onUntold(event.task);
        break;
      case "background_task_closed":
        this.#open.delete(event.taskId);
        emit({ type: "background.closed", id: event.taskId });
        break;
      case "background_task_text_delta":
        if (event.delta === "") return; // a sign of life
        return emit({ type: "background.delta", id: event.taskId, text: event.delta });
      default: {
        const { taskId, ...activity } = event;
        emit({ type: "background.activity", id: taskId, activity });
        // An agent of the session asks by itself, as the conversation does.
        if (event.type === "background_task_permission_request" && !this.#ownAgents.has(taskId))
          void this.#questions.ask(event).catch(() => {}); // a task that has ended meanwhile
        return;
      }
    }
    onChange();
  }

  #follow({ id, status, unread }: BackgroundTaskState): void {
    if (isTerminal(status)) this.#inputs.end(id);
    if (unread || !isTerminal(status)) this.#open.add(id);
    else this.#open.delete(id);
  }

  #by({ id, status }: BackgroundTaskState): { by?: TaskStopper } {
    return status === "cancelled" ? { by: this.#stopping.get(id) ?? "user" } : {};
  }

  #idle(): { idle?: true } {
    return this.#open.size > 0 ? {} : { idle: true };
  }
}

/** It reads a command as the rules do; of others nobody knows what they read. */
function isShell(shell = "bash"): boolean {
  return /^(?:.*\/)?(?:ba|da)?sh$/.test(shell);
}

/** The model was told when it came. */
function hasCome({ kind, status }: BackgroundTaskState): boolean {
  return kind === "scheduled" && status === "completed";
}

function systemClockAt(now: () => number): TaskClock {
  return { ...systemClock, now };
}
