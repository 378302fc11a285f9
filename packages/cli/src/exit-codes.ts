import type { ErrorCode, Outcome, StopLimit } from "@outrider/runtime";

/** What the process's exit code means; the result's subtype and `terminal_reason` say the same. */
export const exitCodes = {
  success: 0,
  error: 1,
  assistantError: 2,
  usage: 64,
  dataMismatch: 65,
  noInput: 66,
  maxTurns: 75,
  loop: 76,
  config: 78,
  cancelled: 124,
  killed: 130,
  maxBudget: 137,
} as const;

const byErrorCode: Partial<Record<ErrorCode, number>> = {
  usage: exitCodes.usage,
  "no-input": exitCodes.noInput,
  "not-found": exitCodes.noInput,
  config: exitCodes.config,
  "storage-failed": exitCodes.config,
  "model-refusal": exitCodes.assistantError,
  "model-empty-answer": exitCodes.assistantError,
  "model-output-limit": exitCodes.assistantError,
  "output-schema": exitCodes.assistantError,
  "replay-mismatch": exitCodes.dataMismatch,
};

const byLimit: Record<StopLimit, number> = {
  "max-turns": exitCodes.maxTurns,
  "max-requests": exitCodes.maxTurns,
  "max-budget": exitCodes.maxBudget,
  hook: exitCodes.error,
  loop: exitCodes.loop,
};

type Ended = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: NodeJS.Signals | undefined;
  /** There was a turn: what is wrong is not how the command was called. */
  readonly begun?: boolean;
};

/** `signal`: the one that stopped the run. Programs that look for Claude Code's codes set OUTRIDER_CLAUDE_EXIT_CODES=1; with its results a success is one in both. */
export function exitCodeOf(outcome: Outcome, { env = process.env, ...ended }: Ended = {}): number {
  if (env["OUTRIDER_CLAUDE_EXIT_CODES"] === "1") return claudeCodeOf(outcome, ended);
  return env["OUTRIDER_CLAUDE_RESULTS"] === "1" && isClaudeSuccess(outcome, ended) ? exitCodes.success : ownCodeOf(outcome);
}

/** What a hook ended, and a typed command that was refused, are successes there. */
function isClaudeSuccess(outcome: Outcome, { begun = false }: Ended): boolean {
  if (outcome.type === "stopped") return outcome.limit === "hook";
  return outcome.type === "completed" || (outcome.type === "failed" && outcome.error.code === "usage" && begun);
}

function claudeCodeOf(outcome: Outcome, ended: Ended): number {
  const { signal } = ended;
  if (isClaudeSuccess(outcome, ended)) return exitCodes.success;
  if (outcome.type !== "cancelled" || outcome.cause === "deadline") return exitCodes.error;
  return signal === "SIGTERM" ? 143 : signal === "SIGHUP" ? 129 : exitCodes.success;
}

function ownCodeOf(outcome: Outcome): number {
  if (outcome.type === "stopped" && outcome.deferred) return exitCodes.success; // as whoever put off the call has asked for
  switch (outcome.type) {
    case "completed":
      return exitCodes.success;
    case "stopped":
      return byLimit[outcome.limit];
    case "cancelled":
      return exitCodes.cancelled;
    case "failed":
      return byErrorCode[outcome.error.code] ?? exitCodes.error;
  }
}
