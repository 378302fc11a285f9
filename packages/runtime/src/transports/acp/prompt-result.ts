import type { Usage } from "../../protocol/content.ts";
import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { PromptResponse, StopReason } from "./wire.ts";

/** How a turn went, as the answer to its prompt. Throws where the protocol has no stop reason for it: that is an error. */
export function toPromptResponse(outcome: Outcome, usage: Usage): PromptResponse {
  const meta = outcome.type === "stopped" ? { _meta: { outrider: { limit: outcome.limit } } } : {};
  return { stopReason: stopReasonOf(outcome), ...usageOf(usage), ...meta };
}

function stopReasonOf(outcome: Outcome): StopReason {
  switch (outcome.type) {
    case "completed":
      return "end_turn";
    case "cancelled":
      return "cancelled";
    case "stopped":
      return outcome.limit === "hook" ? "end_turn" : "max_turn_requests";
    case "failed": {
      const { code, message, ...details } = outcome.error;
      const reason = reasonsOfFailure[code];
      if (reason === undefined) throw new RuntimeError(code, message, details);
      return reason;
    }
  }
}

const reasonsOfFailure: Partial<Record<ErrorCode, StopReason>> = {
  "model-refusal": "refusal",
  "model-output-limit": "max_tokens",
};

function usageOf(usage: Usage): Pick<PromptResponse, "usage"> {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens } = usage;
  if (inputTokens + outputTokens === 0) return {};
  return {
    usage: {
      totalTokens: inputTokens + outputTokens,
      inputTokens,
      outputTokens,
      thoughtTokens: reasoningTokens,
      cachedReadTokens: cacheReadTokens,
      cachedWriteTokens: cacheWriteTokens,
    },
  };
}
