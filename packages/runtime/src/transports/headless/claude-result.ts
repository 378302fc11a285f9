import { builtinCommands } from "../../commands/builtin/builtin-commands.ts";
import { defined } from "../../util/defined.ts";
import type { ModelCosts } from "../../model/ledger.ts";
import type { ErrorData } from "../../protocol/errors.ts";
import { type CancelCause, hasAnswer, type Outcome, type StopLimit } from "../../protocol/outcome.ts";
import type { JsonValue } from "../../protocol/content.ts";
import { apiErrorWord } from "../../protocol/api-error-word.ts";
import type { Frame } from "./claude-frame.ts";
import { toClaudeUsage } from "./claude-usage.ts";
import type { AnsweredPrompts } from "./output-format.ts";
import type { ModelLimits, PricedRun } from "./price-run.ts";
import type { RunTotals } from "./run-totals.ts";

export type Ending = {
  readonly run: RunTotals;
  readonly costs: { readonly all: PricedRun; readonly fresh: PricedRun };
  readonly prompts: AnsweredPrompts;
  /** Pieces of an answer were shown when they came. */
  readonly shownInPieces: boolean;
  /** How many results came before this one. */
  readonly index: number;
  /** What Claude Code calls a success is called one here too. */
  readonly asClaude: boolean;
};

export function toResultFields(outcome: Outcome, ending: Ending): Frame {
  const { run, prompts, index } = ending;
  const { all: costs, fresh } = ending.costs;
  const { ended } = run;
  // A host that sends something urgent has asked for the end of what ran: that is no failure.
  const deferred = outcome.type === "stopped" ? outcome.deferred : undefined;
  const completed =
    outcome.type === "completed" || deferred !== undefined || (outcome.type === "cancelled" && outcome.cause === "superseded");
  const unknown = costs.models.filter((line) => line.costUsd === null).map((line) => `${line.served.provider}/${line.served.id}`);
  const unpriced = unknown.length > 0 ? [`The price of ${unknown.join(", ")} is not known: the cost is not known either`] : [];
  const warnings = [...run.warnings, ...unpriced, ...(outcome.masked ?? [])];
  const claimed = ending.asClaude ? claimedSuccess(outcome, run) : undefined;
  return {
    subtype: completed || claimed ? "success" : subtypeOf(outcome),
    is_error: claimed?.is_error ?? !completed,
    duration_ms: ended?.durationMs ?? 0,
    duration_api_ms: ended?.modelDurationMs ?? 0,
    ...(completed && !deferred && toTimings(ending)),
    num_turns: ended?.modelCalls ?? 0,
    ...((completed || hasAnswer(outcome)) && { result: outcome.text }),
    ...(claimed && { result: claimed.result }),
    ...defined({ structured_output: structuredIn(outcome) }),
    ...(completed && run.command !== undefined && { local_command: localName(run.command) }),
    stop_reason: deferred ? "tool_deferred" : claimed?.is_error ? "stop_sequence" : run.stopReason,
    ...(deferred && { deferred_tool_use: { id: deferred.callId, name: deferred.name, input: deferred.input } }),
    terminal_reason: terminalReason(outcome, run),
    api_error_status: outcome.type === "failed" ? (outcome.error.httpStatus ?? null) : null,
    ...(outcome.type === "failed" && defined({ api_error_type: outcome.error.errorType })),
    total_cost_usd: costs.total.costUsd,
    usage: toRunUsage(run),
    modelUsage: toModelUsages(costs),
    model_usage_since_last_result: toModelUsages(fresh),
    ...(run.worktree && { worktree: run.worktree }),
    ...(warnings.length > 0 && { warnings }),
    permission_denials: run.denials.map(({ callId, tool, input, reason }) => ({
      tool_name: tool,
      tool_use_id: callId,
      tool_input: input,
      reason,
    })),
    tool_calls_seen: run.toolCalls,
    fast_mode_state: "off",
    ...(run.tasksTold && {
      origin: {
        kind: "task-notification",
        producer: "session-task",
        ...defined({ runId: run.runTold }),
        task_ids: run.tasksTold,
      },
    }),
    subagent_stats: run.subagents.fields,
    result_index: index,
    queued_turn_count: prompts.waiting,
    ...uuidFields(prompts),
    ...(outcome.type !== "completed" &&
      !completed &&
      !claimed && {
        errors: [describe(outcome, ended?.modelCalls)],
        ...(outcome.text && { last_assistant_text: outcome.text }),
        error: toError(outcome),
      }),
  };
}

/** Endings without an answer that Claude Code writes as `success`, with what went wrong in `result`. */
function claimedSuccess(outcome: Outcome, run: RunTotals): { readonly is_error: boolean; readonly result: string } | undefined {
  if (outcome.type === "stopped" && outcome.limit === "hook") return { is_error: false, result: "" };
  if (outcome.type !== "failed") return undefined;
  if (apiErrorWord(outcome.error) !== undefined) return { is_error: true, result: describe(outcome) };
  return run.command === undefined ? undefined : { is_error: false, result: describe(outcome) };
}

function structuredIn(outcome: Outcome): JsonValue | undefined {
  if (outcome.type === "cancelled") return outcome.answered?.structured;
  return outcome.type === "completed" ? outcome.structured : undefined;
}

/** Claude Code's word for whose command it was; where a model was asked for it, there is none. */
function localName(command: string): string {
  return isBuiltin(command) ? command : "custom";
}

export function isBuiltin(command: string): boolean {
  return builtinCommands.some(({ name }) => name === command);
}

/** The names a host gave to the messages that are answered here. */
export function uuidFields({ uuids }: AnsweredPrompts): Frame {
  return uuids.length === 0 ? {} : { user_message_uuid: uuids[0], user_message_uuids: uuids };
}

/** From the start of the turn, in milliseconds: to the first request, to the first piece of an answer, to the first frame with words. */
function toTimings({ run: { startedAt, first }, prompts, shownInPieces }: Ending): Frame {
  if (startedAt === undefined || !first) return {};
  const begun = Date.parse(startedAt);
  const since = (time: number): number => Math.max(0, time - begun);
  const answeredAt = Date.parse(first.at);
  const askedAt = answeredAt - first.durationMs;
  const firstPieceAt = askedAt + (first.firstTokenMs ?? first.durationMs);
  return {
    ttft_ms: since(firstPieceAt),
    ttft_stream_ms: since(firstPieceAt),
    time_to_request_ms: since(askedAt),
    first_content_frame_ms: since(shownInPieces ? firstPieceAt : answeredAt),
    ...(prompts.uuids.length > 0 && { request_sent_wall_ms: askedAt }),
  };
}

function subtypeOf(outcome: Outcome): string {
  if (outcome.type === "stopped") return stops[outcome.limit].subtype;
  if (outcome.type === "failed" && outcome.error.code === "output-schema") return "error_max_structured_output_retries";
  return "error_during_execution";
}

const stops: Record<StopLimit, { subtype: string; reason: string; words: string }> = {
  "max-turns": { subtype: "error_max_turns", reason: "max_turns", words: "Reached maximum number of turns" },
  "max-requests": {
    subtype: "error_max_turns",
    reason: "max_requests",
    words: "Reached the maximum number of model requests, with those of summaries, hooks and subagents",
  },
  "max-budget": { subtype: "error_max_budget_usd", reason: "budget_exhausted", words: "Reached maximum budget" },
  hook: { subtype: "error_during_execution", reason: "hook_stopped", words: "A hook ended the turn" },
  loop: { subtype: "error_during_execution", reason: "loop", words: "The same call had the same result again and again" },
};

function terminalReason(outcome: Outcome, run: RunTotals): string {
  switch (outcome.type) {
    case "completed":
      return outcome.endedByHook ? "stop_hook_prevented" : "completed";
    case "stopped":
      return outcome.deferred ? "tool_deferred" : stops[outcome.limit].reason;
    case "cancelled":
      return ["abort", "superseded"].includes(outcome.cause)
        ? `aborted_${run.abortedDuring}`
        : `cancelled_${outcome.cause.replaceAll("-", "_")}`;
    case "failed":
      return failureReason(outcome.error);
  }
}

function failureReason(error: ErrorData): string {
  if (error.code === "output-schema") return "structured_output_retry_exhausted";
  if (error.code === "context-overflow") return "prompt_too_long";
  return apiErrorWord(error) === undefined ? error.code.replaceAll("-", "_") : "api_error";
}

type NoAnswer = Exclude<Outcome, { type: "completed" }>;

function describe(outcome: NoAnswer, modelCalls?: number): string {
  switch (outcome.type) {
    case "stopped":
      return outcome.limit === "max-requests"
        ? [stops[outcome.limit].words, ...(outcome.reason ? [outcome.reason] : [])].join(": ")
        : (outcome.reason ?? `${stops[outcome.limit].words}${outcome.limit === "max-turns" ? counted(modelCalls) : ""}`);
    case "cancelled":
      return cancelWords[outcome.cause];
    case "failed":
      return outcome.error.message;
  }
}

function counted(modelCalls: number | undefined): string {
  return modelCalls === undefined ? "" : ` (${modelCalls})`;
}

const cancelWords: Record<CancelCause, string> = {
  abort: "Interrupted",
  superseded: "Another prompt took its place",
  signal: "Stopped by a signal",
  "output-closed": "The output was closed, or could not be written",
  deadline: "The deadline passed",
};

/** One shape for every ending that is no answer, so that programs need one branch. */
function toError(outcome: NoAnswer): Frame {
  if (outcome.type !== "failed")
    return { code: endingCode(outcome), message: describe(outcome), retryable: false, http_status: null, hint: null };
  const { code, message, retryable, httpStatus, requestId, hint } = outcome.error;
  const sent = requestId === undefined ? {} : { request_id: requestId };
  return { code, message, retryable, http_status: httpStatus ?? null, hint: hint ?? null, ...sent };
}

function endingCode(outcome: NoAnswer & { type: "stopped" | "cancelled" }): string {
  if (outcome.type === "cancelled") return "cancelled";
  return outcome.limit === "hook" ? "hook-stopped" : outcome.limit === "loop" ? "loop" : "limit-reached";
}

function toRunUsage(run: RunTotals): Frame {
  return {
    ...toClaudeUsage(run.usage),
    cache_creation: { ephemeral_5m_input_tokens: run.usage.cacheWriteTokens, ephemeral_1h_input_tokens: 0 }, // an hour is never asked for
    output_tokens_details: { thinking_tokens: run.usage.reasoningTokens },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
  };
}

/** By model; a model that two providers served is told apart by its provider. */
export function toModelUsages({ models, limits }: PricedRun): Frame {
  const shared = (id: string): boolean => models.filter((line) => line.served.id === id).length > 1;
  const nameOf = ({ served, requested }: ModelCosts): string =>
    shared(served.id) ? `${served.provider}/${served.id} (${requested})` : served.id;
  return Object.fromEntries(models.map((line) => [nameOf(line), toModelUsage(line, limits.get(line.served.id))]));
}

function toModelUsage({ usage, costUsd, requested, served }: ModelCosts, limits: ModelLimits | undefined): Frame {
  return {
    inputTokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    cacheReadInputTokens: usage.cacheReadTokens,
    cacheCreationInputTokens: usage.cacheWriteTokens,
    cacheCreationEphemeral5mInputTokens: usage.cacheWriteTokens,
    cacheCreationEphemeral1hInputTokens: 0,
    thinkingTokens: usage.reasoningTokens,
    webSearchRequests: 0,
    costUSD: costUsd,
    contextWindow: limits?.contextWindow ?? null,
    maxOutputTokens: limits?.maxOutputTokens ?? null,
    requestedModel: requested,
    canonicalModel: limits?.pricedAs ?? served.id,
    costBasis: costBases[limits?.priceFrom ?? "unknown"],
    provider: served.provider,
  };
}

/** Whose price it is, in Claude Code's words: a table of models, or what the user says. */
const costBases = { table: "list", override: "managed", unknown: "unknown" } as const;
