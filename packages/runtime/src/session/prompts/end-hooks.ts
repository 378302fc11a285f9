import type { Hooks } from "../../hooks/hook.ts";
import type { CancelCause } from "../../protocol/outcome.ts";
import type { Emit } from "../../protocol/events.ts";
import { monotonicMs } from "../../util/monotonic-clock.ts";

/** How long hooks may take at the end of a session. */
const graceMs = 2000;
const shortGraceMs = 1000;

export type SessionEnd = {
  readonly reason: string;
  /** The session had begun as far as its hooks are concerned. */
  readonly begun: boolean;
  /** Why the session was aborted, if it was: after a signal somebody waits for us to be gone. */
  readonly cancelled: CancelCause | undefined;
  readonly emit: Emit;
};

/** SessionEnd hooks, and what still runs in the background, have a moment; the end waits no longer for them. */
export async function endHooks(hooks: Hooks, { reason, begun, cancelled, emit }: SessionEnd): Promise<void> {
  const limitMs = cancelled === undefined || cancelled === "abort" ? graceMs : shortGraceMs;
  const startedAt = monotonicMs();
  if (begun) await tellEnd(hooks, { reason, limitMs, emit });
  await hooks.close(Math.max(0, limitMs - (monotonicMs() - startedAt)));
}

/** Never rejects: what is cut off by the limit says so in its own event. */
export async function tellEnd(
  hooks: Hooks,
  { reason, limitMs, emit }: { readonly reason: string; readonly limitMs: number; readonly emit: Emit },
): Promise<void> {
  const signal = AbortSignal.timeout(limitMs);
  await hooks.ask("SessionEnd", () => ({ reason }), { signal, emit }).catch(() => {});
}
