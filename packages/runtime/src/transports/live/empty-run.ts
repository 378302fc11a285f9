import { RuntimeError } from "../../protocol/errors.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";

export type EmptyRun = {
  readonly stopped: CancelCause | undefined;
  /** A request of the host was answered. */
  readonly served: boolean;
  /** Lines came, and none could be used. */
  readonly garbage: boolean;
  readonly strict: boolean;
};

/** How a run went in which there was no prompt. A host that only asked about the session, or had nothing to say, has what it wanted. */
export function toEmptyOutcome({ stopped, served, garbage, strict }: EmptyRun): Outcome {
  if (stopped) return { type: "cancelled", cause: stopped, text: "" };
  if (served || !(garbage || strict)) return { type: "completed", text: "" };
  const hint = 'Write lines like {"type":"user","content":"…"} to stdin';
  const error = garbage
    ? new RuntimeError("usage", "No line of the input can be used", { hint })
    : new RuntimeError("no-input", "The input ended without a prompt", { hint });
  return { type: "failed", error: error.toJSON(), text: "" };
}
