import type { CatalogOverride } from "../../model/catalog-override.ts";
import { pricesAsOf } from "../../model/catalog-date.ts";
import type { ModelCosts } from "../../model/ledger.ts";
import type { AssistantMessage, AssistantPart, ToolResultPart, Usage } from "../../protocol/content.ts";
import type { ErrorData } from "../../protocol/errors.ts";
import { type AgentEvent, type HookEventName, isEphemeral, type SessionFacts } from "../../protocol/events.ts";
import type { CancelCause, Outcome, StopLimit } from "../../protocol/outcome.ts";
import { toLine } from "../../util/jsonl.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";
import { PartialMessages } from "./partial-messages.ts";
import { type PricedRun, priceCalls } from "./price-run.ts";
import { type ModelCall, RunTotals, textContent } from "./run-totals.ts";

export type ClaudeFormatOptions = {
  readonly sessionId: string;
  readonly newId: () => string;
  /** Frames for every run of a hook, not only for those of the start. */
  readonly includeHookEvents?: boolean;
  /** Also a frame with the prompt of each subagent. */
  readonly forwardSubagentText?: boolean;
  /** Prices and windows beside the built-in ones. */
  readonly catalogOverride?: CatalogOverride;
  /** Model calls of the session before this run: what they cost goes on. */
  readonly earlierCalls?: readonly ModelCall[];
  /** As they are now; read for each `init`. */
  readonly mcpServers?: () => readonly { readonly name: string; readonly status: string }[];
  /** Frames for single deltas; without it only whole messages. */
  readonly includePartialMessages?: boolean;
};

/** Claude Code's headless shapes: scripts, jq filters and clients written for it read ours. */
export function createClaudeFormat(name: OutputFormatName, options: ClaudeFormatOptions): OutputFormat {
  const run = new RunTotals(options.earlierCalls);
  const result = async (outcome: Outcome): Promise<string> => {
    const costs = await priceCalls(run.calls, options.catalogOverride);
    return toLine(toResult(outcome, { run, costs, options }));
  };
  const text = async (outcome: Outcome): Promise<string> => (outcome.type === "completed" ? `${outcome.text}\n` : "");
  // Written piece by piece: there are thousands of these, and all but the event and its id is the same each time.
  const streamHead = `{"type":"stream_event","session_id":${JSON.stringify(options.sessionId)},"uuid":"`;
  const partial = new PartialMessages((json) => `${streamHead}${options.newId()}","event":${json},"parent_tool_use_id":null}\n`);
  return {
    event(event) {
      const streams = name === "stream-json" && options.includePartialMessages !== false && event.taskId === undefined; // what subagents say comes as whole messages only
      if (isEphemeral(event.type)) return streams ? partial.before(event) : "";
      run.apply(event);
      if (name !== "stream-json") return "";
      const frames = toFrames(event, run, options) + toTaskFrames(event, run, options);
      return streams ? partial.before(event) + frames + partial.after(event) : frames;
    },
    end: name === "text" ? text : result,
  };
}

function toTaskFrames(event: AgentEvent, run: RunTotals, options: ClaudeFormatOptions): string {
  const frames = run.tasks.frames(event).map(({ subtype, ...fields }) => ({ ...frame("system", options, subtype), ...fields }));
  if (event.type !== "task.started" || !options.forwardSubagentText) return frames.map(toLine).join("");
  const message = { role: "user", content: [{ type: "text", text: event.prompt }] };
  return [...frames, { ...frame("user", options), message, ...run.tasks.marksOf(event) }].map(toLine).join("");
}

function toFrames(event: AgentEvent, run: RunTotals, options: ClaudeFormatOptions): string {
  switch (event.type) {
    case "turn.started":
      return run.facts ? toLine(toInit(run.facts, options)) : "";
    case "message.ended":
      return event.message.content
        .map((part) =>
          toLine({
            ...frame("assistant", options),
            message: toMessage(event.message, part, event.messageId),
            ...run.tasks.marksOf(event),
          }),
        )
        .join("");
    case "tool.ended":
      return toLine({
        ...frame("user", options),
        message: { role: "user", content: [toToolResult(event.result)] },
        ...run.tasks.marksOf(event),
        tool_use_result: toolUseResult(event, run),
      });
    case "retry.scheduled":
      return toLine({
        ...frame("system", options, "api_retry"),
        attempt: event.attempt,
        max_retries: event.maxRetries,
        retry_delay_ms: event.delayMs,
        error_status: event.error.httpStatus ?? null,
        error: event.error.code,
        message: event.error.message,
        ...run.tasks.agentOf(event),
      });
    case "fallback.used":
      return toLine({
        ...frame("system", options, "model_fallback"),
        trigger: event.error.code,
        original_model: event.from,
        fallback_model: event.to,
        content: event.error.message,
        ...run.tasks.agentOf(event),
      });
    case "permission.decided": {
      if (event.effect === "allow") return "";
      return toLine({
        ...frame("system", options, "permission_denied"),
        tool_name: event.tool,
        tool_use_id: event.callId,
        message: event.reason,
        decision_reason_type: event.by,
        decision_reason: event.rule ?? event.reason,
        decided_by: event.by,
        ...run.tasks.agentOf(event),
      });
    }
    case "hook.started":
      return showsHook(event, options) ? toLine({ ...frame("system", options, "hook_started"), ...hookFields(event) }) : "";
    case "hook.ended":
      return showsHook(event, options) ? toLine(toHookResponse(event, options)) : "";
    case "compaction.started":
      return event.taskId === undefined ? toLine({ ...frame("system", options, "status"), status: "compacting" }) : "";
    case "compaction.ended":
      return event.taskId === undefined ? toCompactionFrames(event, options) : "";
    case "warning.raised":
      return toLine({ ...frame("system", options, "warning"), message: event.message });
    default:
      return "";
  }
}

function toCompactionFrames(
  { trigger, preTokens, durationMs, result }: AgentEvent<"compaction.ended">,
  options: ClaudeFormatOptions,
): string {
  const error = result.type === "failed" ? result.error.message : result.type === "refused" ? result.reason : result.type;
  const status = toLine({
    ...frame("system", options, "status"),
    status: null,
    compact_result: result.type === "compacted" ? "success" : "failed",
    ...(result.type !== "compacted" && { compact_error: error }),
  });
  if (result.type !== "compacted") return status;
  const compact_metadata = {
    trigger: trigger === "manual" ? "manual" : "auto",
    pre_tokens: preTokens,
    post_tokens: result.postTokens,
    duration_ms: durationMs,
  };
  return status + toLine({ ...frame("system", options, "compact_boundary"), compact_metadata });
}

function frame(type: string, options: ClaudeFormatOptions, subtype?: string): Record<string, unknown> {
  return { type, ...(subtype && { subtype }), session_id: options.sessionId, uuid: options.newId() };
}

/** Others than those of the start are for whoever asks for them. */
function showsHook({ event }: { event: HookEventName }, options: ClaudeFormatOptions): boolean {
  return event === "SessionStart" || (options.includeHookEvents ?? false);
}

function hookFields({ hookId, name, event }: { hookId: string; name: string; event: HookEventName }): Record<string, unknown> {
  return { hook_id: hookId, hook_name: name, hook_event: event };
}

const hookOutcomes = { ok: "success", blocked: "error", failed: "error", timeout: "cancelled", cancelled: "cancelled" } as const;

function toHookResponse(event: AgentEvent<"hook.ended">, options: ClaudeFormatOptions): unknown {
  const { stdout, stderr, exitCode, status } = event;
  return {
    ...frame("system", options, "hook_response"),
    ...hookFields(event),
    output: stdout + stderr,
    stdout,
    stderr,
    ...(exitCode !== undefined && { exit_code: exitCode }),
    outcome: hookOutcomes[status],
  };
}

function toInit(facts: SessionFacts, options: ClaudeFormatOptions): unknown {
  return {
    ...frame("system", options, "init"),
    cwd: facts.cwd,
    tools: facts.tools,
    mcp_servers: (options.mcpServers?.() ?? []).map(({ name, status }) => ({ name, status })),
    model: facts.model.id,
    provider: facts.model.provider,
    permissionMode: facts.permissionMode,
    slash_commands: [],
    output_style: "default",
    agents: facts.agents ?? [],
    skills: [],
    plugins: [],
    apiKeySource: "none",
    setting_sources: facts.settingSources ?? [],
    ...(facts.sandbox !== undefined && { sandbox: facts.sandbox }),
    price_as_of: pricesAsOf,
    claude_code_version: facts.version,
    outrider_version: facts.version,
    schema_version: 1,
  };
}

function toMessage(message: AssistantMessage, part: AssistantPart, messageId: string): unknown {
  return {
    id: message.responseId ?? messageId,
    type: "message",
    role: "assistant",
    model: message.model.id,
    content: [toBlock(part)],
    stop_reason: null,
    stop_sequence: message.stopSequence ?? null,
    usage: toUsage(message.usage),
  };
}

function toBlock(part: AssistantPart): unknown {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      return { type: "thinking", thinking: part.text, ...signatureOf(part.providerMetadata) };
    case "tool-call":
      return { type: "tool_use", id: part.callId, name: part.name, input: part.input };
    case "opaque":
      return part.value;
  }
}

function signatureOf(metadata: Record<string, unknown> | undefined): { signature?: unknown } {
  const own = metadata?.["anthropic-messages"];
  return typeof own === "object" && own !== null && "signature" in own ? { signature: own.signature } : {};
}

function toToolResult(result: ToolResultPart): unknown {
  const textOnly = result.content.every((part) => part.type === "text");
  return {
    type: "tool_result",
    tool_use_id: result.callId,
    content: textOnly ? textContent(result) : result.content.map(toResultBlock),
    ...(result.isError && { is_error: true }),
  };
}

function toResultBlock(part: ToolResultPart["content"][number]): unknown {
  if (part.type === "text") return part;
  return { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } };
}

function toolUseResult(event: AgentEvent<"tool.ended">, run: RunTotals): unknown {
  if (event.status !== "ok") return `Error: ${textContent(event.result)}`;
  const task = event.taskId === undefined ? run.tasks.resultOf(event.callId) : undefined;
  if (task) return task;
  return { ...event.details, durationMs: event.durationMs };
}

type Ending = { run: RunTotals; costs: PricedRun; options: ClaudeFormatOptions };

function toResult(outcome: Outcome, { run, costs, options }: Ending): unknown {
  const { ended } = run;
  const unknown = costs.models.filter((line) => line.costUsd === null).map((line) => `${line.served.provider}/${line.served.id}`);
  return {
    ...frame("result", options, subtypeOf(outcome)),
    is_error: outcome.type !== "completed",
    duration_ms: ended?.durationMs ?? 0,
    duration_api_ms: ended?.modelDurationMs ?? 0,
    num_turns: ended?.modelCalls ?? 0,
    ...(outcome.type === "completed" && { result: outcome.text }),
    ...(outcome.type === "completed" && outcome.structured !== undefined && { structured_output: outcome.structured }),
    stop_reason: run.stopReason,
    terminal_reason: terminalReason(outcome),
    total_cost_usd: costs.total.costUsd,
    usage: toUsage(run.usage),
    modelUsage: toModelUsages(costs),
    ...(unknown.length > 0 && { warnings: [`The price of ${unknown.join(", ")} is not known: the cost is not known either`] }),
    permission_denials: run.denials.map(({ callId, tool, input, reason }) => ({
      tool_name: tool,
      tool_use_id: callId,
      tool_input: input,
      reason,
    })),
    tool_calls_seen: run.toolCalls,
    ...(outcome.type !== "completed" && {
      errors: [describe(outcome)],
      ...(outcome.text && { last_assistant_text: outcome.text }),
      ...(outcome.type === "failed" && { error: toError(outcome.error) }),
    }),
  };
}

function subtypeOf(outcome: Outcome): string {
  if (outcome.type === "completed") return "success";
  if (outcome.type === "stopped") return stops[outcome.limit].subtype;
  if (outcome.type === "failed" && outcome.error.code === "output-schema") return "error_max_structured_output_retries";
  return "error_during_execution";
}

const stops: Record<StopLimit, { subtype: string; reason: string; words: string }> = {
  "max-turns": { subtype: "error_max_turns", reason: "max_turns", words: "Reached the maximum number of turns" },
  "max-budget": { subtype: "error_max_budget_usd", reason: "budget_exhausted", words: "Spent more than the budget" },
  hook: { subtype: "error_during_execution", reason: "hook_stopped", words: "A hook ended the turn" },
};

function terminalReason(outcome: Outcome): string {
  switch (outcome.type) {
    case "completed":
      return "completed";
    case "stopped":
      return stops[outcome.limit].reason;
    case "cancelled":
      return `cancelled_${outcome.cause.replaceAll("-", "_")}`;
    case "failed":
      return outcome.error.code.replaceAll("-", "_");
  }
}

function describe(outcome: Exclude<Outcome, { type: "completed" }>): string {
  switch (outcome.type) {
    case "stopped":
      return outcome.reason ?? stops[outcome.limit].words;
    case "cancelled":
      return cancelWords[outcome.cause];
    case "failed":
      return outcome.error.message;
  }
}

const cancelWords: Record<CancelCause, string> = {
  abort: "Interrupted",
  signal: "Stopped by a signal",
  "output-closed": "The output was closed",
  deadline: "The deadline passed",
};

function toError(error: ErrorData): unknown {
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    http_status: error.httpStatus ?? null,
    hint: error.hint ?? null,
  };
}

/** This wire counts cached input apart from `input_tokens`; ours counts it in. */
function toUsage(usage: Usage): unknown {
  return {
    input_tokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

/** By model; a model that two providers served is told apart by its provider. */
function toModelUsages({ models, windows }: PricedRun): Record<string, unknown> {
  const shared = (id: string): boolean => models.filter((line) => line.served.id === id).length > 1;
  const nameOf = ({ served, requested }: ModelCosts): string =>
    shared(served.id) ? `${served.provider}/${served.id} (${requested})` : served.id;
  return Object.fromEntries(models.map((line) => [nameOf(line), toModelUsage(line, windows.get(line.served.id))]));
}

function toModelUsage({ usage, costUsd, requested, served }: ModelCosts, contextWindow: number | undefined): unknown {
  return {
    inputTokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    cacheReadInputTokens: usage.cacheReadTokens,
    cacheCreationInputTokens: usage.cacheWriteTokens,
    thinkingTokens: usage.reasoningTokens,
    webSearchRequests: 0,
    costUSD: costUsd,
    contextWindow: contextWindow ?? null,
    requestedModel: requested,
    provider: served.provider,
  };
}
