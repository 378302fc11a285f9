import type { ToolResultPart } from "../../../protocol/content.ts";
import type { AgentEvent, SessionFacts } from "../../../protocol/events.ts";
import type { Outcome, StopLimit } from "../../../protocol/outcome.ts";
import type { Step } from "../atif.ts";
import { toAnswerStep } from "../write/answer-step.ts";
import type { CallPrice } from "../write/call-price.ts";
import { taskOf } from "../write/subagent-events.ts";
import { toLineCode } from "./line-codes.ts";
import type { AgentStepEvent, TrajectoryEvent, TurnPhase } from "./trajectory-events.ts";
import { defined } from "../../../util/defined.ts";

declare const OUTRIDER_VERSION: string;

export type StepLinesOptions = {
  readonly sessionId: string;
  /** The model as the lines name it; the one that the session says when absent. */
  readonly modelName?: string | undefined;
  /** `outrider` when absent. */
  readonly agentName?: string | undefined;
  /** What an answer cost. */
  readonly priceOf?: CallPrice | undefined;
  /** Milliseconds since 1970: for what is said when nothing happens any more. */
  readonly now?: (() => number) | undefined;
};

/**
 * The events of a session as lines: `metadata`, then each step as soon as it is complete with the results of its tools, and between them
 * `turn-start`, `approval`, `compaction`, `error` and `interrupt`. Only the session's own steps; those of subagents are in the trajectory file.
 */
export class StepLines {
  readonly #options: StepLinesOptions;
  #facts: SessionFacts | undefined;
  #introduced = false;
  #steps = 0;
  #phase: TurnPhase = "new-turn";
  #announced: string | undefined;
  #asked = new Set<string>();
  #open: { step: AgentStepEvent; results: Map<string, string> } | undefined;

  constructor(options: StepLinesOptions) {
    this.#options = options;
  }

  /** The first line, where it is wanted before anything happens. */
  begin(): TrajectoryEvent[] {
    return this.#introduce(this.#now());
  }

  apply(event: AgentEvent): TrajectoryEvent[] {
    if (taskOf(event) !== undefined) return [];
    switch (event.type) {
      case "session.started":
        this.#facts = event;
        return this.#introduce(event.at);
      case "turn.started":
        this.#phase = "new-turn";
        return [...this.#introduce(event.at), this.#userStep(event)];
      case "input.added":
        return [...this.#closeStep(), this.#userStep(event)];
      case "text.delta":
      case "reasoning.delta":
      case "tool-input.delta":
        return this.#announce(event);
      case "message.ended":
        return [...this.#announce(event), ...this.#openStep(event)];
      case "tool.ended":
        return this.#addResult(event.result);
      case "permission.requested":
        this.#asked.add(event.callId);
        return [approval(event, "pending", event.reason)];
      case "permission.decided": {
        const wasAsked = this.#asked.delete(event.callId);
        if (event.effect === "allow" && !wasAsked) return []; // nobody had to approve it
        return [approval(event, event.effect === "allow" ? "approved" : "denied", event.reason)];
      }
      case "compaction.started":
      case "compaction.ended":
        return toCompaction(event);
      default:
        return [];
    }
  }

  /** A turn is over: the step that is still open, and why it did not go well. */
  end(outcome: Outcome<unknown>): TrajectoryEvent[] {
    const timestamp = this.#now();
    const rest = [...this.#introduce(timestamp), ...this.#closeStep()];
    switch (outcome.type) {
      case "completed":
        return rest;
      case "cancelled":
        return [...rest, { type: "interrupt", timestamp, reason: "caller-abort" }];
      case "stopped":
        return [
          ...rest,
          {
            type: "error",
            timestamp,
            error: outcome.reason ?? stopWords[outcome.limit].error,
            code: stopWords[outcome.limit].code,
          },
        ];
      case "failed":
        return [...rest, { type: "error", timestamp, error: outcome.error.message, code: toLineCode(outcome.error.code) }];
    }
  }

  #now(): string {
    return new Date((this.#options.now ?? Date.now)()).toISOString();
  }

  #introduce(timestamp: string): TrajectoryEvent[] {
    if (this.#introduced) return [];
    this.#introduced = true;
    const agent = {
      name: this.#options.agentName ?? "outrider",
      version: this.#facts?.version ?? OUTRIDER_VERSION,
      model_name: this.#options.modelName ?? this.#facts?.model.id ?? "unknown",
    };
    return [{ type: "metadata", timestamp, session_id: this.#options.sessionId, agent }];
  }

  #userStep(event: AgentEvent<"turn.started" | "input.added">): TrajectoryEvent {
    const shown = event.type === "turn.started" ? event.displayInput : undefined;
    const message = shown ?? toText(event.input.content);
    return { type: "step", step_id: ++this.#steps, timestamp: event.at, source: "user", message };
  }

  /** At the first sign of life of each model call; a call that was refused never shows one. */
  #announce({ messageId, at }: { messageId: string; at: string }): TrajectoryEvent[] {
    if (this.#announced === messageId) return [];
    this.#announced = messageId;
    const phase = this.#phase;
    this.#phase = "intermediate-step";
    return [...this.#closeStep(), { type: "turn-start", timestamp: at, phase }];
  }

  #openStep(event: AgentEvent<"message.ended">): TrajectoryEvent[] {
    const step = toAnswerStep(event, this.#options.priceOf?.(event) ?? null);
    const named = this.#options.modelName === undefined ? step : { ...step, model_name: this.#options.modelName };
    this.#open = { step: toStepEvent(named, ++this.#steps), results: new Map() };
    return step.tool_calls ? [] : this.#closeStep();
  }

  #addResult(result: ToolResultPart): TrajectoryEvent[] {
    if (!this.#open) return [];
    const { step, results } = this.#open;
    const call = step.tool_calls?.find(
      ({ tool_call_id: id }) => !results.has(id) && (id === result.callId || id.startsWith(`${result.callId}#`)),
    );
    if (call) results.set(call.tool_call_id, toText(result.content, "\n"));
    return results.size === step.tool_calls?.length ? this.#closeStep() : [];
  }

  #closeStep(): TrajectoryEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return [];
    const results = (open.step.tool_calls ?? []).flatMap(({ tool_call_id: id }) => {
      const content = open.results.get(id);
      return content === undefined ? [] : [{ source_call_id: id, content }];
    });
    const { metrics, ...step } = open.step;
    return [{ ...step, ...(results.length > 0 && { observation: { results } }), ...defined({ metrics }) }];
  }
}

function toStepEvent(step: Omit<Step, "step_id">, id: number): AgentStepEvent {
  const { timestamp = "", message, model_name: model, reasoning_content: reasoning, tool_calls: calls, metrics } = step;
  return {
    type: "step",
    step_id: id,
    timestamp,
    source: "agent",
    message: typeof message === "string" ? message : "",
    ...defined({ model_name: model, reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls.map(({ extra: _, ...call }) => call) }),
    ...(metrics && {
      metrics: {
        prompt_tokens: metrics.prompt_tokens,
        completion_tokens: metrics.completion_tokens,
        ...defined({ cached_tokens: metrics.cached_tokens, cost_usd: metrics.cost_usd }),
      },
    }),
  };
}

function approval(
  event: AgentEvent<"permission.requested" | "permission.decided">,
  state: "pending" | "approved" | "denied",
  reason: string,
): TrajectoryEvent {
  return { type: "approval", timestamp: event.at, state, toolCallId: event.callId, toolName: event.tool, reason };
}

/** The session waits for its summary from the first line to the last. */
function toCompaction(event: AgentEvent<"compaction.started" | "compaction.ended">): TrajectoryEvent[] {
  const common = { type: "compaction", timestamp: event.at, strategy: event.trigger } as const;
  if (event.type === "compaction.started") {
    const begun = { ...common, tokensBefore: event.usedTokens, blocking: true };
    return [
      { ...begun, event: "start" },
      { ...begun, event: "blocking_change" },
    ];
  }
  const { result, preTokens: tokensBefore, durationMs } = event;
  const reason = result.type === "failed" ? result.error.message : result.type === "refused" ? result.reason : result.type;
  const after = result.type === "compacted" ? { tokensAfter: result.postTokens } : { reason };
  return [
    { ...common, event: "complete", tokensBefore, ...after, durationMs, blocking: false },
    { ...common, event: "blocking_change", tokensBefore, ...after, blocking: false },
  ];
}

/** Pictures are not part of these lines. */
function toText(content: readonly ToolResultPart["content"][number][], separator = ""): string {
  return content.map((part) => (part.type === "text" ? part.text : `[image ${part.mediaType}]`)).join(separator);
}

const stopWords: Record<StopLimit, { error: string; code: string }> = {
  "max-turns": { error: "Max iterations reached", code: "MAX_ITERATIONS" },
  "max-requests": { error: "The ceiling of model requests is reached", code: "MAX_REQUESTS" },
  "max-budget": { error: "The budget is spent", code: "MAX_BUDGET" },
  hook: { error: "A hook ended the turn", code: "HOOK_STOPPED" },
  loop: { error: "The same call had the same result again and again", code: "LOOP" },
};
