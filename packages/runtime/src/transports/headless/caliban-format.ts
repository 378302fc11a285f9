import type { CatalogOverride } from "../../model/catalog-override.ts";
import { pricesAsOf } from "../../model/catalog-date.ts";
import { type AssistantPart, callsOf, type ToolResultPart } from "../../protocol/content.ts";
import type { AgentEvent, EventType, SessionFacts } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";
import { priceCalls } from "./price-run.ts";
import { createSpill } from "./spill-folder.ts";
import { toWireLine } from "./wire-line.ts";

export type CalibanFormatOptions = {
  readonly sessionId: string;
  readonly catalogOverride?: CatalogOverride;
  readonly includePartialMessages?: boolean;
  readonly includeHookEvents?: boolean;
  readonly replayUserMessages?: boolean;
  readonly bare?: boolean;
  readonly mcpServers?: () => readonly { readonly name: string; readonly status: string }[];
  /** Several prompts go into one output: its result comes once, with `close`. */
  readonly live?: boolean;
  /** Where values that are too long for a line are kept. */
  readonly spillFolder?: string;
};

/**
 * Caliban's frames: `tool_use` before a tool runs and `tool_result` after it are progress; `message` is the record, and comes when the
 * tools it calls are done. One `system/init` first and one `result` last, whatever comes between.
 */
export function createCalibanFormat(name: OutputFormatName, options: CalibanFormatOptions): OutputFormat {
  const run = new CalibanRun();
  const spill = options.spillFolder === undefined ? undefined : createSpill(options.spillFolder);
  const result = async (outcome: Outcome): Promise<string> => {
    const costs = await priceCalls(run.calls, options.catalogOverride);
    const fields = toResult(outcome, { run, costUsd: costs.total.costUsd, usage: costs.total.usage, options });
    const init = name === "stream-json" ? run.begin(options) : []; // where no turn has begun
    return [...init, fields].map(toLine).join("");
  };
  const toLine = (frame: Frame): string => toWireLine(frame, spill);
  const event: OutputFormat["event"] = (event) => {
    run.apply(event);
    if (name !== "stream-json") return "";
    const frames = toFrames(event, run, options);
    if (frames.length === 0 && event.type !== "turn.started") return "";
    return [...run.begin(options), ...frames].map(toLine).join(""); // also before what hooks of the start have to tell
  };
  if (name === "text") return { event, end: async (outcome) => (outcome.type === "completed" ? `${outcome.text}\n` : "") };
  return options.live ? { event, end: async () => "", close: result } : { event, end: result };
}

type Frame = Record<string, unknown>;

class CalibanRun {
  facts: SessionFacts | undefined;
  #begun = false;
  /** A message whose calls are still at work. */
  #waiting: { frame: Frame; calls: number } | undefined;
  turns = 0;
  durationMs = 0;
  toolCalls = 0;
  readonly calls: AgentEvent<"message.ended" | "side-call.ended">[] = [];

  /** The first frame, once. */
  begin(options: CalibanFormatOptions): Frame[] {
    if (!this.facts || this.#begun) return [];
    this.#begun = true;
    return [toInit(this.facts, options)];
  }

  message({ message }: AgentEvent<"message.ended">): Frame[] {
    const frame = { type: "message", role: "assistant", content: message.content.flatMap(toBlock) };
    const calls = callsOf(message);
    if (calls.length === 0) return [frame];
    this.#waiting = { frame, calls: calls.length };
    return calls.map(({ callId, name, input }) => ({ type: "tool_use", id: callId, name, input }));
  }

  toolDone(): Frame[] {
    const waiting = this.#waiting;
    if (!waiting || --waiting.calls > 0) return [];
    return this.flush();
  }

  flush(): Frame[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting ? [waiting.frame] : [];
  }

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

function toFrames(event: AgentEvent, run: CalibanRun, options: CalibanFormatOptions): Frame[] {
  if (event.taskId !== undefined && !shownOfTasks.has(event.type)) return [];
  switch (event.type) {
    case "turn.started":
      return toReplay(event, options);
    case "input.added":
      return event.origin === "user" ? toReplay(event, options) : [];
    case "text.delta":
      return options.includePartialMessages ? [toDelta({ type: "text_delta", text: event.text })] : [];
    case "reasoning.delta":
      return options.includePartialMessages && event.text ? [toDelta({ type: "thinking_delta", thinking: event.text })] : [];
    case "message.ended":
      return run.message(event);
    case "tool.ended":
      return [toToolResult(event), ...run.toolDone()];
    case "turn.ended":
      return run.flush();
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

function toReplay({ input }: AgentEvent<"turn.started" | "input.added">, { replayUserMessages }: CalibanFormatOptions): Frame[] {
  return replayUserMessages ? [{ type: "user", content: input.content }] : [];
}

function toDelta(delta: Frame): Frame {
  return { type: "content_block_delta", delta };
}

function toToolResult(event: AgentEvent<"tool.ended">): Frame {
  return {
    type: "tool_result",
    tool_use_id: event.callId,
    is_error: event.result.isError,
    content: event.result.content.map(toResultBlock),
    t_ms: event.durationMs,
  };
}

function toInit(facts: SessionFacts, options: CalibanFormatOptions): Frame {
  return {
    type: "system",
    subtype: "init",
    session_id: options.sessionId,
    model: `${facts.model.provider}/${facts.model.id}`,
    tools: facts.tools,
    plugins: [],
    settingSources: facts.settingSources ?? [],
    mcp_servers: (options.mcpServers?.() ?? []).map(({ name, status }) => ({ name, status })),
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

function toHookFrame(event: AgentEvent<"hook.ended">): Frame {
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

function toVerdictFrame(event: AgentEvent<"permission.decided">): Frame {
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

function toResult(outcome: Outcome, { run, costUsd, usage, options }: Ending): Frame {
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
