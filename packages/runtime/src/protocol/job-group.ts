import type { BackgroundTaskErrorData, BackgroundTaskStatus } from "./background-task.ts";

/**
 * When a group is over. `wait_all`: all its tasks have ended. `wait_any`: one has. `detached`: as `wait_all`, and nobody waits for it.
 * `manual`: when somebody says so.
 */
export type BackgroundJobWaitPolicy = "detached" | "wait_all" | "wait_any" | "manual";

/** What became of one task, as far as a group tells it. */
export type BackgroundJobResult = {
  readonly taskId: string;
  readonly label: string;
  readonly status: BackgroundTaskStatus;
  /** The beginning of its output. */
  readonly summary?: string;
  /** Where the whole output is. */
  readonly outputRef?: string;
  readonly error?: BackgroundTaskErrorData;
  readonly startedAt?: string;
  readonly completedAt?: string;
};

/** Tasks that belong together, as they are at one moment. */
export type BackgroundJobGroupState = {
  readonly id: string;
  readonly label?: string;
  readonly parentSessionId: string;
  readonly waitPolicy: BackgroundJobWaitPolicy;
  readonly status: "running" | "completed";
  readonly taskIds: readonly string[];
  /** Of the tasks that have ended, in the order of `taskIds`. */
  readonly results: readonly BackgroundJobResult[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly completedAt?: string;
};

export type BackgroundJobGroupEvent = {
  readonly type: "background_job_group_created" | "background_job_group_updated" | "background_job_group_completed";
  readonly group: BackgroundJobGroupState;
};
