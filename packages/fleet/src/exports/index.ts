/** Many runs: what a program needs that runs batches of tasks, or builds a backend for them. */
export {
  type Approval,
  type DurableBackend,
  type DurableContext,
  type DurableRun,
  type KeptFailure,
  OutcomeUnknown,
  RunCancelled,
  RunSuspended,
  StepFailed,
  type StepAttempt,
  type StepOptions,
  type StepPolicy,
} from "../durable/durable.ts";
export { createLocalBackend, type LocalBackendOptions } from "../durable/local-backend.ts";
export { type ObjectStore, StoreFailed } from "../stores/object-store.ts";
export { openStore } from "../stores/open-store.ts";
export {
  type KeptRun,
  type KnownRun,
  removeRun,
  restoreRun,
  type RunPlace,
  saveRun,
  type SavedRun,
} from "../stores/saved-run.ts";
export type { SavedTree } from "../stores/saved-tree.ts";
export {
  type BatchEnd,
  type BatchProgress,
  type BatchRun,
  type BatchSettings,
  createBatch,
  runBatch,
  summaryOf,
} from "../batch/run-batch.ts";
export {
  BatchFolder,
  type BatchState,
  giveOrder,
  type Order,
  type Question,
  readBatch,
  type UnitState,
} from "../batch/batch-folder.ts";
export { answerQuestion } from "../batch/answer-question.ts";
export { type BatchSummary, exactMcNemar, type ModelLine, summarize, wilson } from "../batch/statistics.ts";
export { summaryText } from "../batch/summary-text.ts";
export { type BatchComparison, compareBatches, comparisonText } from "../batch/compare-batches.ts";
export { BatchGovernor, type BatchLimits } from "../limits/batch-governor.ts";
export type { Governor, RequestEnd, RequestFacts } from "../limits/governor.ts";
export { type Governing, governedProvider, type PriceOf } from "../limits/governed-provider.ts";
export { type Rate, RateLimits } from "../limits/rate-limits.ts";
export { createTaskRun, runIdOf, type TaskRunGround, type TaskRunInput } from "../run/task-run.ts";
export type { TaskResult, TaskStatus } from "../run/task-result.ts";
export { type PreparedWorkspace, Workspaces } from "../run/workspaces.ts";
export { readTasks, type ReadOptions } from "../tasks/read-tasks.ts";
export type { TaskDefaults } from "../tasks/parse-task.ts";
export { type BatchTask, type BatchUnit, type TaskCheck, toUnits } from "../tasks/task.ts";

/** What needs a durable engine: loaded by who uses one. */
export const loadEngine = (): Promise<typeof import("./restate.ts")> => import("./restate.ts");
