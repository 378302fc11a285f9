import type { BackgroundTaskErrorData } from "../../protocol/background-task.ts";
import type { BackgroundTaskRunnerEvent } from "../background/task-contract.ts";
import type { SubagentJobResult, SubagentSpawnRequest } from "./subagent-contract.ts";

/** What is said to a process that works for an agent. */
export type ToWorker =
  | { readonly type: "start"; readonly jobId: string; readonly request: SubagentSpawnRequest }
  | { readonly type: "cancel"; readonly reason?: string | undefined }
  | { readonly type: "send"; readonly id: number; readonly prompt: string }
  | { readonly type: "answer"; readonly requestId: string; readonly isAllowed: boolean }
  /** Nothing more is wanted of it. */
  | { readonly type: "leave" };

/** And what it says. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "event"; readonly event: BackgroundTaskRunnerEvent }
  | { readonly type: "result"; readonly result: SubagentJobResult }
  | { readonly type: "failed"; readonly error: BackgroundTaskErrorData }
  | { readonly type: "sent"; readonly id: number; readonly problem?: string | undefined };
