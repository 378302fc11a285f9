import type {
  BackgroundTaskMetadata,
  BackgroundTaskMode,
  BackgroundTaskState,
  BackgroundTaskStatus,
} from "../../protocol/background-task.ts";
import type { Usage } from "../../protocol/content.ts";
import type {
  AgentTaskRequest,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskRunnerEvent,
} from "../background/task-contract.ts";

export type SubagentJobMode = BackgroundTaskMode;
export type SubagentJobStatus = BackgroundTaskStatus;

/** Work for an agent. `permissionPolicy` is `inherit-allowlist` when absent. */
export type SubagentSpawnRequest = Omit<AgentTaskRequest, "kind" | "agentType" | "permissionPolicy"> & {
  /** The kind of agent, by its name. */
  readonly type: string;
  readonly permissionPolicy?: AgentTaskRequest["permissionPolicy"] | undefined;
};

/** A job as it is at one moment. */
export type SubagentJobState = BackgroundTaskState & { readonly type: string };

export type SubagentJobResult = {
  readonly jobId: string;
  /** The last words of the agent. */
  readonly output: string;
  readonly usage?: Usage | undefined;
  readonly metadata?: BackgroundTaskMetadata | undefined;
};

export type SubagentJobStart = {
  readonly jobId: string;
  readonly request: SubagentSpawnRequest;
  /** Hears what the agent does. It never ends a job: `result` does. */
  readonly emit?: ((event: BackgroundTaskRunnerEvent) => void) | undefined;
};

/** A job that was started. */
export interface SubagentJobHandle {
  readonly jobId: string;
  readonly pid?: number | undefined;
  readonly logPath?: string | undefined;
  readonly transcriptPath?: string | undefined;
  /** Rejects when the agent did not get to its end, with the reason. */
  readonly result: Promise<SubagentJobResult>;
  /** Settles when nothing of it is left. */
  cancel(reason?: string): Promise<void>;
  send?(prompt: string): Promise<void>;
  readLog?(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage>;
  /** Answers what it asked with `background_task_permission_request`. */
  answerPermission?(requestId: string, isAllowed: boolean): void;
}

/** Runs agents: in this process, in another one, or anywhere else. What it throws at the start is the failure of the job. */
export interface SubagentRunner {
  start(job: SubagentJobStart): SubagentJobHandle;
}

/** A checkout of its own for one job. */
export type PreparedSubagentWorktree = {
  readonly worktreePath: string;
  readonly branchName: string;
  readonly baseRevision?: string | undefined;
  /** What is changed in the user's own checkout, and so is not in this one; in words. */
  readonly parentStatus?: string | undefined;
};

/** `clean`: nothing was done in it, and it can go. Anything else is in `status` for people, with what to do about it. */
export type SubagentWorktreeInspection =
  | { readonly clean: true }
  | { readonly clean: false; readonly status: string; readonly nextAction: string };

export interface SubagentWorktreeAdapter {
  /** Rejects with what to do where none can be made. Work that was to be isolated is never done elsewhere. */
  prepare(wanted: { readonly jobId: string; readonly cwd: string }): Promise<PreparedSubagentWorktree>;
  inspect(worktree: PreparedSubagentWorktree): Promise<SubagentWorktreeInspection>;
  /** Of one that is clean. */
  remove(worktree: PreparedSubagentWorktree): Promise<void>;
}
