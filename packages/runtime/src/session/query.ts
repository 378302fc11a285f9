import { RuntimeError } from "../protocol/errors.ts";
import type { SessionOptions } from "./session-options.ts";
import { InteractiveSession } from "./interactive-session.ts";
import { outcomeError, type SessionEvents } from "./session-view.ts";

export type QueryOptions = Omit<SessionOptions, "cwd"> & {
  readonly cwd?: string;
  readonly onTextDelta?: (delta: string) => void;
  /** Told when older messages gave way to a summary. */
  readonly onCompact?: SessionEvents["compact"];
};

/** A prompt in, the answer out. Each call is a session of its own; anything but a complete answer rejects. */
export function createQuery(options: QueryOptions): (prompt: string) => Promise<string> {
  return async (prompt) => {
    const session = new InteractiveSession({ ...options, cwd: options.cwd ?? process.cwd() });
    if (options.onCompact) session.on("compact", options.onCompact);
    if (options.onTextDelta) session.on("text_delta", options.onTextDelta);
    try {
      const outcome = await session.submit(prompt);
      if (outcome.type === "completed") return outcome.text;
      if (outcome.type === "cancelled") throw new RuntimeError("closed", "The query was interrupted");
      throw outcomeError(outcome);
    } finally {
      await session.shutdown({ reason: "other" });
    }
  };
}
