import type { WorktreeFacts } from "../../protocol/events.ts";
import { hasAnswer, type Outcome } from "../../protocol/outcome.ts";
import { reasonOf } from "./outcome-reason.ts";
import type { PricedRun } from "./price-run.ts";

type Frame = Record<string, unknown>;

export type CalibanTotals = {
  readonly sessionId: string;
  readonly turns: number;
  readonly durationMs: number;
  readonly toolCalls: number;
  /** What the model said last in the whole run; an answer that only calls tools says nothing. */
  readonly lastText: string;
  readonly warnings: readonly string[];
  readonly costs: PricedRun;
  readonly worktree?: WorktreeFacts | undefined;
};

/** The last frame. A success holds the answer in `result`; every other ending has none, and says in fields what it leaves behind. */
export function toCalibanResult(outcome: Outcome, totals: CalibanTotals): Frame {
  const { usage, knownUsd } = totals.costs.total;
  const subtype = subtypeOf(outcome);
  const completed = outcome.type === "completed";
  const lastText = outcome.text || totals.lastText;
  return {
    type: "result",
    subtype,
    ...(hasAnswer(outcome) && { result: outcome.text }),
    ...(completed && outcome.structured !== undefined && { structured_output: outcome.structured }),
    session_id: totals.sessionId,
    is_error: !completed,
    // Always a number: what is not known counts as nothing in this contract, and `warnings` says so.
    total_cost_usd: knownUsd,
    turns: totals.turns,
    num_turns: totals.turns,
    duration_ms: totals.durationMs,
    total_input_tokens: usage.inputTokens,
    total_output_tokens: usage.outputTokens,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    ...(!completed && {
      tool_calls_seen: totals.toolCalls,
      ...(lastText && { last_assistant_text: lastText }),
      ...(subtype === "error" && { error: reasonOf(outcome) }),
    }),
    ...(totals.worktree && { worktree: totals.worktree }),
    ...toWarnings([...totals.warnings, ...unknownPrices(totals.costs), ...(outcome.masked ?? [])]),
  };
}

/** Of several prompts only the last has a result; what went wrong with the others must not go unsaid. */
export function toPromptWarning(outcome: Outcome): Frame[] {
  if (outcome.type !== "failed" && outcome.type !== "stopped") return [];
  return [{ type: "warning", subtype: "prompt_failed", message: reasonOf(outcome), details: { subtype: subtypeOf(outcome) } }];
}

function subtypeOf(outcome: Outcome): string {
  switch (outcome.type) {
    case "completed":
      return "success";
    case "stopped":
      if (outcome.limit === "max-turns" || outcome.limit === "max-requests") return "max_turns";
      return outcome.limit === "max-budget" ? "budget_exceeded" : "error";
    case "cancelled":
      return "cancelled";
    case "failed":
      return outcome.error.code === "model-output-limit" ? "max_tokens" : "error";
  }
}

function unknownPrices({ models }: PricedRun): string[] {
  const names = models.flatMap(({ costUsd, served }) => (costUsd === null ? [`${served.provider}/${served.id}`] : []));
  return names.length === 0 ? [] : [`The price of ${names.join(", ")} is not known and not in total_cost_usd`];
}

function toWarnings(warnings: readonly string[]): Frame {
  return warnings.length === 0 ? {} : { warnings };
}
