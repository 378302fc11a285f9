import { RuntimeError } from "../../protocol/errors.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";

/** How a run went in which there was no prompt. A host that only asked about the session has what it wanted. */
export function toEmptyOutcome({ stopped, served }: { stopped: CancelCause | undefined; served: boolean }): Outcome {
  if (stopped) return { type: "cancelled", cause: stopped, text: "" };
  if (served) return { type: "completed", text: "" };
  const error = new RuntimeError("no-input", "The input ended without a prompt", {
    hint: 'Write lines like {"type":"user","content":"…"} to stdin',
  });
  return { type: "failed", error: error.toJSON(), text: "" };
}
