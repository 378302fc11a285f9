import type { Surroundings } from "@outrider/runtime/host";
import type { KeptFailure } from "../durable/durable.ts";
import type { RequestEnd, RequestFacts } from "../limits/governor.ts";
import type { TaskResult } from "../run/task-result.ts";
import type { TaskRunInput } from "../run/task-run.ts";
import type { Question } from "./batch-folder.ts";
import type { RunSettings } from "./executor.ts";

/** From the process that has the batch to one that works for it. The first is `open`. */
export type ToWorker =
  | { readonly type: "open"; readonly settings: RunSettings; readonly around: Surroundings }
  | { readonly type: "run"; readonly id: number; readonly input: TaskRunInput }
  | { readonly type: "cancel"; readonly input: TaskRunInput }
  | { readonly type: "admitted"; readonly id: number; readonly refusal?: KeptFailure | undefined }
  | { readonly type: "close" };

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "done"; readonly id: number; readonly result: TaskResult }
  | { readonly type: "failed"; readonly id: number; readonly failure: KeptFailure }
  | { readonly type: "admit"; readonly id: number; readonly request: RequestFacts }
  | { readonly type: "ended"; readonly request: RequestEnd }
  | { readonly type: "throttled"; readonly provider: string; readonly waitMs: number }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "warning"; readonly line: string };
