import type { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

/** Options that are known only when the session is opened, and what to do with what was opened for them. */
export type CompletedOptions = {
  readonly options: SessionOptions;
  /** Called when the session has ended. */
  close?(): Promise<void>;
};

export type Completing = {
  readonly session: InteractiveSession<unknown>;
  /** The session is being shut down: nothing that takes time is worth it any more. */
  readonly leaving: AbortSignal;
};

export type CompleteOptions = (options: SessionOptions, completing: Completing) => Promise<CompletedOptions>;
