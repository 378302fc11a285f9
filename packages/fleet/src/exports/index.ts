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
export { removeRun, restoreRun, type RunPlace, saveRun, type SavedRun } from "../stores/saved-run.ts";
export type { SavedTree } from "../stores/saved-tree.ts";
