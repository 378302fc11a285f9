import type {
  BackgroundTaskActivity,
  BackgroundTaskKind,
  BackgroundTaskMetadata,
  BackgroundTaskMode,
  BackgroundTaskResult,
  BackgroundTaskState,
  BackgroundTaskStatus,
} from "../../protocol/background-task.ts";

type RequestBase = {
  readonly label: string;
  readonly mode: BackgroundTaskMode;
  readonly parentSessionId: string;
  readonly parentTaskId?: string | undefined;
  readonly depth: number;
  readonly cwd: string;
  /** An older name of `idleTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** The task fails when nothing is heard of it for so long. 240,000 for agents and none for programs when absent; 0 for none. */
  readonly idleTimeoutMs?: number | undefined;
  /** The task fails after so long, whatever it does; none when absent or 0. */
  readonly maxRuntimeMs?: number | undefined;
  readonly metadata?: BackgroundTaskMetadata | undefined;
};

/** Whose word an agent's calls rest on. */
export type BackgroundTaskPermissionPolicy = "inherit-allowlist" | "preapproved" | "prompt" | "deny";

export type AgentTaskRequest = RequestBase & {
  readonly kind: "agent";
  readonly agentType: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly isolation?: "none" | "worktree" | undefined;
  readonly worktreePath?: string | undefined;
  readonly branchName?: string | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly permissionPolicy: BackgroundTaskPermissionPolicy;
  readonly providerProfile?: string | undefined;
  /** Bytes of text after which it fails; 256,000 when absent. */
  readonly outputLimitBytes?: number | undefined;
  /** 20,000 when absent. */
  readonly maxTextDeltas?: number | undefined;
  /** Characters in which `repetitionThreshold` (8) equal sentences are a loop; 800 when absent. */
  readonly repetitionWindow?: number | undefined;
  readonly repetitionThreshold?: number | undefined;
};

export type ProcessTaskRequest = RequestBase & {
  readonly kind: "process";
  readonly command: string;
  readonly shell?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Written to its standard input at once. */
  readonly stdin?: string | undefined;
  /** Of the result's `output`; 30,000 when absent. The log has all of it. */
  readonly outputLimitBytes?: number | undefined;
  /** A regular expression: a line that it matches is told at once, while the program runs. */
  readonly matchPattern?: string | undefined;
  /** What the model is to do when it is told of such a line, or of the end. */
  readonly agentInstruction?: string | undefined;
};

export type ScheduledTaskRequest = RequestBase & {
  readonly kind: "scheduled";
  /** Five fields of cron, `@daily` and its kin, `every 10m`, or a moment such as 2026-11-16T18:30:00Z. */
  readonly cronExpression: string;
  /** `false`: it comes once. */
  readonly recurring?: boolean | undefined;
  readonly command?: string | undefined;
  readonly agentInstruction?: string | undefined;
  /** When it was to come next, as an earlier process knew: what was missed since is told. */
  readonly dueAt?: string | undefined;
};

export type BackgroundTaskRequest = AgentTaskRequest | ProcessTaskRequest | ScheduledTaskRequest;

/** What a runner tells of its task. It never ends a task: `result` does. Several questions may be open at once, each with an id of its own. */
export type BackgroundTaskRunnerEvent =
  | { readonly type: "background_task_text_delta"; readonly delta: string }
  | BackgroundTaskActivity;

type Lifecycle = "created" | "started" | "updated" | "completed" | "failed" | "cancelled";

export type BackgroundTaskEvent =
  | { readonly type: `background_task_${Lifecycle}`; readonly task: BackgroundTaskState }
  | { readonly type: "background_task_closed"; readonly taskId: string }
  | (BackgroundTaskRunnerEvent & { readonly taskId: string });

export type BackgroundTaskInput = string;
export type BackgroundTaskLogCursor = { readonly offset: number };
export type BackgroundTaskLogPage = {
  readonly taskId: string;
  readonly cursor?: BackgroundTaskLogCursor;
  /** Where the next page begins; at the end of a running task's log, where its next line will. Absent when nothing more can come. */
  readonly nextCursor?: BackgroundTaskLogCursor;
  readonly lines: readonly string[];
};

export type BackgroundTaskStart<Request extends BackgroundTaskRequest = BackgroundTaskRequest> = {
  readonly taskId: string;
  readonly request: Request;
  readonly emit: (event: BackgroundTaskRunnerEvent) => void;
  /** Aborted when the task is ended, also while it is still being started: then `start` need not go on. */
  readonly signal: AbortSignal;
};

/** A task that was started. */
export interface BackgroundTaskHandle {
  readonly pid?: number | undefined;
  readonly logPath?: string | undefined;
  readonly transcriptPath?: string | undefined;
  /** Rejects when the task failed. */
  readonly result: Promise<BackgroundTaskResult>;
  /** Settles when nothing of it is left. */
  cancel(reason?: string): Promise<void>;
  send?(input: BackgroundTaskInput): Promise<void>;
  readLog?(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage>;
  /** Of a schedule: it does not come until it is resumed. */
  pause?(): void;
  resume?(): void;
  /** Answers what it asked with `background_task_permission_request`. */
  answerPermission?(requestId: string, isAllowed: boolean): void;
}

/** Starts tasks of one kind. */
export interface BackgroundTaskRunner<Request extends BackgroundTaskRequest = never> {
  readonly kind: BackgroundTaskKind;
  start(start: BackgroundTaskStart<Request>): BackgroundTaskHandle | Promise<BackgroundTaskHandle>;
}

export type BackgroundTaskListFilter = {
  readonly kind?: BackgroundTaskKind | undefined;
  readonly status?: BackgroundTaskStatus | readonly BackgroundTaskStatus[] | undefined;
  readonly parentSessionId?: string | undefined;
};

export type BackgroundTaskIdFactory = (request: BackgroundTaskRequest) => string;
