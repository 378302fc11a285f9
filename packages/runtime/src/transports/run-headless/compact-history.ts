import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import type { CompactionReport, MessageHistory } from "./message-history.ts";

/** Says no after too many failures in a row. */
export interface CompactionCircuitBreaker {
  isOpen(): boolean;
  recordSuccess?(): void;
  recordFailure?(reason?: string): void;
}

/** Told how a compaction goes; each is optional. */
export type CompactionCallbacks = {
  onCompactionStart?(): void;
  onCompactionComplete?(report: CompactionReport): void;
  onCompactionError?(error: unknown): void;
  onBlockingChange?(event: { blocking: boolean; reason?: string; tokensBefore?: number; tokensAfter?: number }): void;
  onApplied?(): void;
  onRejected?(): void;
};

export type HistoryCompactor = {
  readonly history: MessageHistory;
  readonly isDisabled: boolean;
  readonly breaker: CompactionCircuitBreaker | undefined;
  readonly callbacks: CompactionCallbacks | undefined;
  readonly emit: (event: TrajectoryEvent) => void;
  readonly now: () => number;
};

/** Why a history that had nothing to give is no failure. */
const benign = ["compaction disabled", "compaction not applied", "no messages", "no messages to summarize", "no summarizeFn"];

/** Makes room in a history that can; true when it is smaller now. A failure is told and leaves the history as it was. */
export async function compactHistory(compactor: HistoryCompactor, reason: "threshold" | "overflow"): Promise<boolean> {
  const { history, breaker, callbacks, emit, now } = compactor;
  if (compactor.isDisabled || !history.compact || breaker?.isOpen()) return false;
  const startedAt = now();
  const at = (): string => new Date(now()).toISOString();
  callbacks?.onCompactionStart?.();
  callbacks?.onBlockingChange?.({ blocking: true, reason });
  const begun = { type: "compaction", tokensBefore: usedTokens(history), strategy: reason, blocking: true } as const;
  emit({ ...begun, timestamp: at(), event: "start", reason });
  emit({ ...begun, timestamp: at(), event: "blocking_change", reason });
  let report: CompactionReport;
  try {
    report = await history.compact();
  } catch (error) {
    callbacks?.onCompactionError?.(error);
    const message = error instanceof Error ? error.message : String(error);
    report = { success: false, tokensBefore: usedTokens(history), tokensAfter: usedTokens(history), reason: message };
  }
  const ended = { type: "compaction", ...toFields(report), strategy: reason, blocking: false } as const;
  emit({ ...ended, timestamp: at(), event: "complete", durationMs: now() - startedAt });
  emit({ ...ended, timestamp: at(), event: "blocking_change" });
  callbacks?.onCompactionComplete?.(report);
  callbacks?.onBlockingChange?.({ blocking: false, reason, tokensBefore: report.tokensBefore, tokensAfter: report.tokensAfter });
  if (report.success) {
    callbacks?.onApplied?.();
    breaker?.recordSuccess?.();
  } else {
    callbacks?.onRejected?.();
    if (!benign.includes(report.reason ?? "")) breaker?.recordFailure?.(report.reason);
  }
  return report.success && !(report.tokensBefore > 0 && report.tokensAfter >= report.tokensBefore);
}

function toFields({ tokensBefore, tokensAfter, success, reason }: CompactionReport): {
  tokensBefore: number;
  tokensAfter: number;
  reason?: string;
} {
  return { tokensBefore, tokensAfter, ...(!success && { reason: reason ?? "compaction not applied" }) };
}

function usedTokens(history: MessageHistory): number {
  const usage =
    "getContextUsage" in history && typeof history.getContextUsage === "function" ? history.getContextUsage() : undefined;
  return typeof usage?.used === "number" ? usage.used : 0;
}
