import type { CatalogOverride } from "../../model/catalog-override.ts";
import { pricesAsOf } from "../../model/catalog-date.ts";
import type { AssistantPart, ToolResultPart } from "../../protocol/content.ts";
import type { AgentEvent, EventType, SessionFacts } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { toLine } from "../../util/jsonl.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";
import { priceCalls } from "./price-run.ts";

export type CalibanFormatOptions = {
  readonly sessionId: string;
  readonly catalogOverride?: CatalogOverride;
  readonly includePartialMessages?: boolean;
  readonly includeHookEvents?: boolean;
  readonly replayUserMessages?: boolean;
  readonly bare?: boolean;
};

/**
 * Caliban's frames: `tool_use` when a tool starts and `tool_result` when it ends are progress; `message` is the record.
 * One `system/init` first and one `result` last, whatever comes between.
 */
export function createCalibanFormat(name: OutputFormatName, options: CalibanFormatOptions): OutputFormat {
  const run = new CalibanRun();
  const result = async (outcome: Outcome): Promise<string> => {
    const costs = await priceCalls(run.calls, options.catalogOverride);
    return toLine(toResult(outcome, { run, costUsd: costs.total.costUsd, usage: costs.total.usage, options }));
  };
  return {
    event(event) {
      run.apply(event);
      return name === "stream-json" ? toFrames(event, run, options).map(toLine).join("") : "";
    },
    end: name === "text" ? async (outcome) => (outcome.type === "completed" ? `${outcome.text}\n` : "") : result,
  };
}

class CalibanRun {
  facts: SessionFacts | undefined;
  begun = false;
  turns = 0;
  durationMs = 0;
  toolCalls = 0;
  readonly calls: AgentEvent<"message.ended" | "side-call.ended">[] = [];

  apply(event: AgentEvent): void {
    if (event.type === "session.started") this.facts = event;
    else if (event.type === "message.ended" || event.type === "side-call.ended") this.calls.push(event);
    else if (event.type === "tool.ended") this.toolCalls++;
    else if (event.type === "turn.ended") {
      this.turns += event.modelCalls;
      this.durationMs += event.durationMs;
    }
  }
}

function toFrames(event: AgentEvent, run: CalibanRun, options: CalibanFormatOptions): unknown[] {
  if (event.taskId !== undefined && !shownOfTasks.has(event.type)) return [];
  switch (event.type) {
    case "turn.started": {
      const init = run.facts && !run.begun ? [toInit(run.facts, options)] : [];
      run.begun = true;
      return options.replayUserMessages ? [...init, { type: "user", content: event.input.content }] : init;
    }
    case "text.delta":
      return options.includePartialMessages ? [{ type: "text", delta: event.text }] : [];
    case "reasoning.delta":
      return options.includePartialMessages ? [{ type: "thinking", delta: event.text }] : [];
    case "tool.started":
      return [{ type: "tool_use", id: event.callId, name: event.name, input: event.input }];
    case "tool.ended":
      return [
        {
          type: "tool_result",
          tool_use_id: event.callId,
          is_error: event.result.isError,
          content: event.result.content.map(toResultBlock),
          t_ms: event.durationMs,
        },
      ];
    case "message.ended":
      return [{ type: "message", role: "assistant", content: event.message.content.flatMap(toBlock) }];
    case "retry.scheduled":
      return [
        {
          type: "system",
          subtype: "api_retry",
          attempt: event.attempt,
          max_retries: event.maxRetries,
          retry_delay_ms: event.delayMs,
          ...(event.error.httpStatus !== undefined && { error_status: event.error.httpStatus }),
          error_category: retryCategory(event.error.code),
        },
      ];
    case "hook.ended":
      return options.includeHookEvents ? [toHookFrame(event)] : [];
    case "permission.decided":
      return options.includeHookEvents ? [toVerdictFrame(event)] : [];
    case "warning.raised":
      return [{ type: "warning", message: event.message }];
    default:
      return [];
  }
}

/** Of subagents these frames know nothing but what concerns the whole run: what they say and call is no part of the conversation. */
const shownOfTasks: ReadonlySet<EventType> = new Set<EventType>([
  "retry.scheduled",
  "hook.ended",
  "permission.decided",
  "warning.raised",
]);

function toInit(facts: SessionFacts, options: CalibanFormatOptions): unknown {
  return {
    type: "system",
    subtype: "init",
    session_id: options.sessionId,
    model: `${facts.model.provider}/${facts.model.id}`,
    tools: facts.tools,
    plugins: [],
    settingSources: facts.settingSources ?? [],
    mcp_servers: [],
    bare_mode: options.bare ?? false,
    cwd: facts.cwd,
    permission_mode: facts.permissionMode,
    as_of: pricesAsOf,
  };
}

function toBlock(part: AssistantPart): unknown[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "reasoning":
      return [{ type: "thinking", thinking: part.text }];
    case "tool-call":
      return [{ type: "tool_use", id: part.callId, name: part.name, input: part.input }];
    case "opaque":
      return [];
  }
}

function toResultBlock(part: ToolResultPart["content"][number]): unknown {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } };
}

function toHookFrame(event: AgentEvent<"hook.ended">): unknown {
  return {
    type: "hook_event",
    hookEventName: event.event,
    hookSpecificOutput: {
      hook: event.name,
      status: event.status,
      ...(event.exitCode !== undefined && { exitCode: event.exitCode }),
    },
  };
}

function toVerdictFrame(event: AgentEvent<"permission.decided">): unknown {
  const { effect, by, reason, rule, tool, callId } = event;
  return {
    type: "hook_event",
    hookEventName: "PermissionVerdict",
    hookSpecificOutput: { tool, tool_use_id: callId, decision: effect, by, reason, ...(rule !== undefined && { rule }) },
  };
}

function retryCategory(code: string): string {
  switch (code) {
    case "provider-overloaded":
      return "overloaded";
    case "provider-rate-limit":
      return "rate_limit";
    case "provider-timeout":
      return "timeout";
    case "provider-unavailable":
      return "network";
    default:
      return "other";
  }
}

type Ending = {
  readonly run: CalibanRun;
  readonly costUsd: number | null;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly options: CalibanFormatOptions;
};

function toResult(outcome: Outcome, { run, costUsd, usage, options }: Ending): unknown {
  const subtype = subtypeOf(outcome);
  const completed = outcome.type === "completed";
  return {
    type: "result",
    subtype,
    ...(completed && { result: outcome.text }),
    ...(completed && outcome.structured !== undefined && { structured_output: outcome.structured }),
    session_id: options.sessionId,
    is_error: !completed,
    total_cost_usd: costUsd,
    turns: run.turns,
    num_turns: run.turns,
    duration_ms: run.durationMs,
    total_input_tokens: usage.inputTokens,
    total_output_tokens: usage.outputTokens,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    ...(!completed && {
      tool_calls_seen: run.toolCalls,
      ...(outcome.text && { last_assistant_text: outcome.text }),
      ...(outcome.type === "failed" && { error: outcome.error.message }),
    }),
  };
}

function subtypeOf(outcome: Outcome): string {
  switch (outcome.type) {
    case "completed":
      return "success";
    case "stopped":
      if (outcome.limit === "max-turns") return "max_turns";
      return outcome.limit === "max-budget" ? "budget_exceeded" : "error";
    case "cancelled":
      return "cancelled";
    case "failed":
      return outcome.error.code === "model-output-limit" ? "max_tokens" : "error";
  }
}
