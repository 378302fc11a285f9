import type { CatalogOverride } from "../../model/catalog-override.ts";
import { pricesAsOf } from "../../model/catalog-date.ts";
import { type AssistantPart, callsOf, type ToolResultPart, textOf } from "../../protocol/content.ts";
import type { ErrorData } from "../../protocol/errors.ts";
import type { AgentEvent, EventType, SessionFacts, WorktreeFacts } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { ownContent } from "../../protocol/own-content.ts";
import { BackgroundFrames } from "./background-frames.ts";
import { toCalibanResult, toPromptWarning } from "./caliban-result.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";
import { priceCalls } from "./price-run.ts";
import { createSpill } from "./spill-folder.ts";
import { toWireLine } from "./wire-line.ts";
import { toWorktreeFacts } from "./worktree-field.ts";
import { defined } from "../../util/defined.ts";
import { toMediaBlock } from "../../protocol/media.ts";

export type CalibanFormatOptions = {
  readonly sessionId: string;
  readonly catalogOverride?: CatalogOverride | undefined;
  readonly includePartialMessages?: boolean | undefined;
  readonly includeHookEvents?: boolean | undefined;
  readonly replayUserMessages?: boolean | undefined;
  readonly bare?: boolean | undefined;
  readonly mcpServers?: (() => readonly { readonly name: string; readonly status: string }[]) | undefined;
  /** Several prompts go into one output: its result comes once, with `close`. */
  readonly live?: boolean | undefined;
  /** Where values that are too long for a line are kept. */
  readonly spillFolder?: string | undefined;
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
    const fields = toCalibanResult(outcome, { ...run.totals, costs, sessionId: options.sessionId });
    const init = name === "stream-json" ? run.begin(options) : []; // where no turn has begun
    return [...init, fields].map(toLine).join("");
  };
  const toLine = (frame: Frame): string => toWireLine(frame, spill);
  const event: OutputFormat["event"] = (event) => {
    run.apply(event);
    if (name !== "stream-json") return "";
    const frames = [...run.takeWarnings(event), ...toFrames(event, run, options)];
    if (frames.length === 0 && event.type !== "turn.started") return "";
    return [...run.begin(options), ...frames].map(toLine).join(""); // also before what hooks of the start have to tell
  };
  if (name === "text") return { event, end: async (outcome) => (outcome.type === "completed" ? `${outcome.text}\n` : "") };
  if (!options.live) return { event, end: result };
  const end = async (outcome: Outcome): Promise<string> => {
    run.earlier = toPromptWarning(outcome);
    return "";
  };
  return { event, end, close: result };
}

type Frame = Record<string, unknown>;

class CalibanRun {
  facts: SessionFacts | undefined;
  #begun = false;
  /** A message whose calls are still at work. */
  #waiting: { frame: Frame; calls: number } | undefined;
  totals: {
    turns: number;
    durationMs: number;
    toolCalls: number;
    lastText: string;
    warnings: string[];
    worktree?: WorktreeFacts;
  } = {
    turns: 0,
    durationMs: 0,
    toolCalls: 0,
    lastText: "",
    warnings: [],
  };
  readonly calls: ModelCall[] = [];
  readonly background: BackgroundFrames = new BackgroundFrames({ tellsAgents: true });

  /** What went wrong with the prompt before, told once it is not the last: the last one has the result. */
  earlier: Frame[] = [];

  takeWarnings({ type, taskId }: AgentEvent): Frame[] {
    return type === "turn.started" && taskId === undefined ? this.earlier.splice(0) : [];
  }

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
    const { totals } = this;
    if (event.type === "message.ended" || event.type === "side-call.ended") this.calls.push(withoutWords(event));
    if (event.type === "warning.raised" && !totals.warnings.includes(event.message)) totals.warnings.push(event.message);
    if (event.taskId !== undefined) return; // what subagents cost counts; what they say and call is not this conversation's
    if (event.type === "worktree.inspected") totals.worktree = toWorktreeFacts(event);
    if (event.type === "session.started") this.facts = event;
    else if (event.type === "message.ended") totals.lastText = textOf(event.message.content) || totals.lastText;
    else if (event.type === "tool.ended") totals.toolCalls++;
    else if (event.type === "turn.ended") {
      totals.turns += event.modelCalls;
      totals.durationMs += event.durationMs;
    }
  }
}

type ModelCall = AgentEvent<"message.ended" | "side-call.ended">;

/** A session may live for long; at its end only who answered and what it took is needed. */
function withoutWords(event: ModelCall): ModelCall {
  return { ...event, message: { ...event.message, content: [] } };
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
          ...defined({ error_status: event.error.httpStatus }),
          error_category: retryCategory(event.error),
        },
      ];
    case "fallback.used":
      return [toMismatch(event)];
    case "hook.started": // what nobody waits for has a frame at each end
      return options.includeHookEvents && event.background ? [toHookFrame(event, { status: "dispatched" })] : [];
    case "hook.ended":
      return options.includeHookEvents ? [toHookFrame(event, toHookEnd(event))] : [];
    case "permission.decided":
      return options.includeHookEvents ? [toVerdictFrame(event)] : [];
    case "warning.raised":
      return [{ type: "warning", message: event.message }];
    default:
      return run.background.frames(event).map((frame) => ({ type: "system", ...frame }));
  }
}

/** Of subagents these frames know nothing but what concerns the whole run: what they say and call is no part of the conversation. */
const shownOfTasks: ReadonlySet<EventType> = new Set<EventType>([
  "retry.scheduled",
  "fallback.used",
  "hook.started",
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
    content: ownContent(event).map(toResultBlock),
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
    plugins: (facts.plugins ?? []).map(({ name, version, source }) => ({ name, version: version ?? null, source })),
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
  return toMediaBlock(part);
}

function toMismatch({ from, to, error }: AgentEvent<"fallback.used">): Frame {
  const message = `${from} could not answer (${error.message}); ${to} is asked instead`;
  return { type: "warning", subtype: "model_mismatch", message, details: { requested: from, actual: to } };
}

function toHookFrame({ event, name, hookId }: AgentEvent<"hook.started" | "hook.ended">, state: Frame): Frame {
  return { type: "hook_event", hookEventName: event, hookSpecificOutput: { ...state, hook: name, hookId } };
}

function toHookEnd({ stdout, status, exitCode }: AgentEvent<"hook.ended">): Frame {
  return { ...decisionIn(stdout), status, ...defined({ exitCode }) };
}

/** What a hook answered about the call: its `permissionDecision`, reason and changed input. */
function decisionIn(stdout: string): Frame {
  if (!stdout.trimStart().startsWith("{")) return {};
  try {
    const { hookSpecificOutput } = JSON.parse(stdout) as { hookSpecificOutput?: unknown }; // whatever the hook wrote
    return typeof hookSpecificOutput === "object" && hookSpecificOutput !== null ? { ...hookSpecificOutput } : {};
  } catch {
    return {};
  }
}

function toVerdictFrame(event: AgentEvent<"permission.decided">): Frame {
  const { effect, by, reason, rule, tool, callId } = event;
  return {
    type: "hook_event",
    hookEventName: "PermissionVerdict",
    hookSpecificOutput: {
      permissionDecision: effect,
      permissionDecisionReason: reason,
      tool,
      tool_use_id: callId,
      decision: effect,
      by,
      reason,
      ...defined({ rule }),
    },
  };
}

function retryCategory({ code, httpStatus }: ErrorData): string {
  switch (code) {
    case "provider-overloaded":
      return "overloaded";
    case "provider-rate-limit":
      return "rate_limit";
    case "provider-timeout":
      return "timeout";
    case "provider-unavailable":
      return httpStatus === undefined ? "network" : "server_error";
    default:
      return "other";
  }
}
