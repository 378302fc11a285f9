import type { BackgroundTaskErrorCategory, BackgroundTaskErrorData } from "../../protocol/background-task.ts";

/** What went wrong with a task, or with what was asked of it. */
export class BackgroundTaskError extends Error {
  override readonly name = "BackgroundTaskError";
  readonly category: BackgroundTaskErrorCategory;
  /** Another try may go well. */
  readonly recoverable: boolean;

  constructor(category: BackgroundTaskErrorCategory, message: string, options: { recoverable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.category = category;
    this.recoverable = options.recoverable ?? false;
  }

  toJSON(): BackgroundTaskErrorData {
    const { category, message, recoverable } = this;
    return { category, message, recoverable };
  }
}

/** Whatever a runner throws is the failure of its task. */
export function toBackgroundTaskError(thrown: unknown): BackgroundTaskError {
  if (thrown instanceof BackgroundTaskError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new BackgroundTaskError("runner", message, { cause: thrown });
}
