import type { ErrorCode, JsonObject, StopLimit } from "@outrider/runtime";
import type { CheckResult } from "./run-check.ts";

/**
 * `passed`: it completed, and its check says yes where there is one. `failed`: it completed and the check says no. `error`: a failure of ours,
 * of the provider or of the model. `stopped`: a limit of the task. `cancelled`: somebody ended it.
 */
export type TaskStatus = "passed" | "failed" | "error" | "stopped" | "cancelled";

/** One line of results.jsonl: the result frame of the run, and whose it is. */
export type TaskResult = JsonObject & {
  readonly task_id: string;
  readonly unit_id: string;
  readonly status: TaskStatus;
  readonly passed: boolean;
  readonly model: string;
  readonly repetition: number;
  readonly attempt: number;
  readonly session_id: string;
  readonly started_at: string;
  readonly ended_at: string;
  /** From its first start to its end, with all crashes and waits. */
  readonly wall_ms: number;
  readonly total_cost_usd: number | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** How often the run was taken up again after a crash or a stop. */
  readonly resumed: number;
};

/** What can be wrong with a task that is tried again. */
export const failureKinds: readonly (ErrorCode | StopLimit | "check" | "deadline")[] = [
  ...(["check", "deadline", "max-turns", "max-requests", "max-budget", "hook", "loop"] as const),
  ...(["usage", "no-input", "config", "not-found", "busy", "closed", "storage-failed", "session-locked", "internal"] as const),
  ...(["provider-auth", "provider-rate-limit", "provider-overloaded", "provider-bad-request"] as const),
  ...(["provider-unavailable", "provider-timeout", "provider-protocol", "context-overflow", "model-refusal"] as const),
  ...(["model-empty-answer", "model-output-limit", "output-schema", "replay-mismatch", "limit-reached"] as const),
];

/** What was wrong, for retries and for the table: `check`, `deadline`, `max-turns`, or the code of an error. Undefined when it passed. */
export function failureKind(result: Pick<TaskResult, "status"> & { readonly failure?: unknown }): string | undefined {
  return result.status === "passed" ? undefined : typeof result.failure === "string" ? result.failure : result.status;
}

export function toCheckFields(check: CheckResult | undefined): JsonObject {
  if (!check) return {};
  const { passed, exitCode, output, durationMs, reward } = check;
  return { check: { passed, exit_code: exitCode, output, duration_ms: durationMs, ...(reward !== null && { reward }) } };
}
