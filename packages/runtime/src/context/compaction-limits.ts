import type { ModelRequest } from "../model/model.ts";
import { RuntimeError } from "../protocol/errors.ts";

export type CompactionSettings = {
  /** The share of the context window at which older messages are summarised; `false` never does so by itself. */
  readonly threshold: number | false;
  /** What summaries should dwell on: the instruction files' "Compact Instructions". */
  readonly instructions?: string;
  /** At most this many tokens of recently used files are read again; by default a tenth of the limit. */
  readonly fileTokens?: number;
};

export const defaultThreshold = 0.835;

export type ContextLimits = {
  readonly window: number;
  /** From here on, room is made before the next request. */
  readonly limit: number;
  /** From here on, a request with its answer is not expected to fit. */
  readonly hard: number;
};

/** Throws a `config` error for a threshold that is no share. */
export function checkThreshold(threshold: number | false): number | false {
  if (threshold === false || (threshold > 0 && threshold <= 1)) return threshold;
  throw new RuntimeError("config", `The compaction threshold is a share above 0 and at most 1, or false, not ${threshold}`, {
    hint: `Leave it out for ${defaultThreshold}`,
  });
}

export function limitsOf(
  window: number,
  threshold: number | false,
  request: Pick<ModelRequest, "maxOutputTokens" | "thinkingTokens">,
): ContextLimits {
  const hard = window - answerReserve(window, request);
  return { window, hard, limit: threshold === false ? hard : Math.min(threshold * window, hard) };
}

/** Providers count the answer's limit against the window, where one is asked for. */
function answerReserve(window: number, request: Pick<ModelRequest, "maxOutputTokens" | "thinkingTokens">): number {
  const asked = (request.maxOutputTokens ?? 0) + (request.thinkingTokens ?? 0);
  if (asked > 0) return Math.min(asked, window / 2);
  return Math.min(window / 10, 20_000);
}
