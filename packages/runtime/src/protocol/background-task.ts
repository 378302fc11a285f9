import type { JsonValue, Usage } from "./content.ts";

/** `agent`: a subagent. `process`: a program. `scheduled`: something that begins again and again. */
export type BackgroundTaskKind = "agent" | "process" | "scheduled";

/** Somebody waits for a `foreground` task; a `background` one is told of when it has ended. */
export type BackgroundTaskMode = "foreground" | "background";

export type BackgroundTaskStatus =
  | "queued"
  | "running"
  | "waiting_permission"
  | "sleeping"
  | "paused"
  | "completed"
  | "failed"
  | "cancelled";

/** Which watch ended a task; `stale_worker`: the process that had started it is gone. */
export type BackgroundTaskTimeoutReason = "idle" | "max_runtime" | "output_limit" | "repetition" | "stale_worker";

export type BackgroundTaskErrorCategory =
  | "validation"
  | "capacity"
  | "permission"
  | "timeout"
  | "runner"
  | "crash"
  | "provider"
  | "process";

export type BackgroundTaskErrorData = {
  readonly category: BackgroundTaskErrorCategory;
  readonly message: string;
  readonly recoverable: boolean;
};

/** What others keep with a task; nobody here reads it. */
export type BackgroundTaskMetadata = Readonly<Record<string, string | number | boolean>>;

export type BackgroundTaskResult = {
  readonly taskId: string;
  readonly kind: BackgroundTaskKind;
  /** The last words of an agent, or the beginning of what a program printed. */
  readonly output: string;
  readonly exitCode?: number;
  readonly signalCode?: string;
  readonly metadata?: BackgroundTaskMetadata;
  readonly usage?: Usage;
};

/** When a schedule comes, and what is done then. */
export type BackgroundTaskSchedule = {
  /** Five fields of cron, `@daily` and its kin, `every 10m`, or a moment such as 2026-11-16T18:30:00Z. */
  readonly cronExpression: string;
  /** `false`: it comes once. */
  readonly recurring?: boolean;
  /** What the model is told to do. */
  readonly agentInstruction?: string;
  /** What is run; the model hears how it went. */
  readonly command?: string;
};

/** A task as it is at one moment. Changing it changes nothing. */
export type BackgroundTaskState = {
  readonly id: string;
  readonly kind: BackgroundTaskKind;
  /** A few words for people who watch. */
  readonly label: string;
  readonly agentType?: string;
  readonly status: BackgroundTaskStatus;
  readonly mode: BackgroundTaskMode;
  readonly parentSessionId: string;
  readonly parentTaskId?: string;
  /** 1 for what the session itself started. */
  readonly depth: number;
  readonly cwd: string;
  readonly pid?: number;
  readonly startedAt?: string;
  readonly updatedAt: string;
  readonly lastActivityAt?: string;
  readonly completedAt?: string;
  readonly promptPreview?: string;
  readonly commandPreview?: string;
  readonly isolation?: "none" | "worktree";
  readonly currentAction?: string;
  /** It has ended, and nobody has been told how. */
  readonly unread: boolean;
  readonly result?: BackgroundTaskResult;
  readonly error?: BackgroundTaskErrorData;
  /** The file with everything it printed. */
  readonly logPath?: string;
  readonly transcriptPath?: string;
  readonly worktreePath?: string;
  readonly branchName?: string;
  readonly worktreeStatus?: string;
  readonly worktreeNextAction?: string;
  readonly worktreeBaseRevision?: string;
  readonly parentWorktreeStatus?: string;
  /** When a schedule comes next. */
  readonly nextFireAt?: string;
  /** What a schedule is: enough to go on with it in another process. */
  readonly schedule?: BackgroundTaskSchedule;
  readonly timeoutReason?: BackgroundTaskTimeoutReason;
  readonly metadata?: BackgroundTaskMetadata;
};

/** What a task does between its beginning and its end, beside what it says. It never ends a task. */
export type BackgroundTaskActivity =
  | { readonly type: "background_task_tool_start"; readonly toolName: string; readonly firstArg?: string }
  | { readonly type: "background_task_tool_end"; readonly toolName: string; readonly success: boolean; readonly error?: string }
  | {
      readonly type: "background_task_permission_request";
      readonly requestId: string;
      readonly toolName: string;
      readonly toolArgs?: JsonValue;
    }
  | { readonly type: "background_task_permission_resolved"; readonly requestId: string; readonly allowed: boolean }
  | { readonly type: "background_task_sleeping"; readonly nextFireAt?: string }
  | { readonly type: "background_task_waking"; readonly instruction?: string };
