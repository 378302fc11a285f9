import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { BackgroundTaskHandle, BackgroundTaskRequest } from "./task-contract.ts";
import { frozen } from "./task-state.ts";
import type { TaskWatch } from "./task-watch.ts";

/** What the registry knows of one task. */
export type Task = {
  state: BackgroundTaskState;
  readonly request: BackgroundTaskRequest;
  readonly ended: Promise<void>;
  readonly onEnded: () => void;
  handle?: BackgroundTaskHandle;
  /** Settles when there is a handle: a runner may tell something before. */
  starting?: Promise<void>;
  watch?: TaskWatch | undefined;
  /** What it asked and has no answer to. */
  readonly questions: Set<string>;
  /** Aborted when it is to be ended. */
  readonly stopping: AbortController;
  /** It counts among those that may run at the same time; what sleeps does not. */
  hasSlot: boolean;
  /** Why it is to be ended, when it was ended before it had a handle. */
  cancelled?: string | undefined;
  /** Settles when nothing of it is left. */
  gone?: Promise<void>;
};

export function newTask(state: BackgroundTaskState, request: BackgroundTaskRequest): Task {
  let onEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    onEnded = resolve;
  });
  const stopping = new AbortController();
  return { state: frozen(state), request, ended, onEnded, questions: new Set(), stopping, hasSlot: false };
}
