import type { AgentStepEvent, StepMetrics, TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import { toArguments } from "../atif/write/answer-step.ts";
import { fieldIn, type StreamUsage, toStreamUsage } from "./runnable-agent.ts";
import { defined } from "../../util/defined.ts";

/** A step without its place in the run. */
export type OpenStep = Omit<AgentStepEvent, "step_id" | "timestamp" | "type" | "source">;

/** What the parts of a stream add up to: one step for each time the model was asked. */
export class StreamSteps {
  readonly #modelId: string;
  readonly #emit: (event: TrajectoryEvent) => void;
  readonly #now: () => string;
  #text = "";
  #reasoning = "";
  #calls: NonNullable<OpenStep["tool_calls"]> = [];
  #results = new Map<string, string>();
  #started = new Set<string>();

  /** `emit` is told of approvals and of what an agent says by itself. */
  constructor(modelId: string, emit: (event: TrajectoryEvent) => void, now: () => string) {
    this.#modelId = modelId;
    this.#emit = emit;
    this.#now = now;
  }

  /** Tools are at work: silence is theirs, not the model's. */
  get isBusy(): boolean {
    return this.#calls.some(({ tool_call_id: id }) => !this.#results.has(id));
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  get isEmpty(): boolean {
    return this.#text.trim() === "" && this.#calls.length === 0;
  }

  /** Answers true at the end of a step. Throws what an error part holds. */
  add(part: unknown): boolean {
    const callId = textIn(part, "toolCallId") ?? "";
    switch (fieldIn(part, "type")) {
      case "text-delta":
        this.#text += deltaIn(part);
        return false;
      case "reasoning-delta":
      case "reasoning":
        this.#reasoning += deltaIn(part);
        return false;
      case "tool-input-start":
        this.#started.add(textIn(part, "id") ?? callId);
        return false;
      case "tool-call":
        this.#started.delete(callId);
        this.#calls.push({
          tool_call_id: this.#calls.some(({ tool_call_id: id }) => id === callId)
            ? `${callId}#${this.#calls.length + 1}`
            : callId,
          function_name: textIn(part, "toolName") ?? "unknown",
          arguments: toArguments(fieldIn(part, "input") ?? fieldIn(part, "args")),
        });
        return false;
      case "tool-result":
        if (fieldIn(part, "preliminary") !== true)
          this.#results.set(callId, toOutput(fieldIn(part, "output") ?? fieldIn(part, "result")));
        return false;
      case "tool-error":
        this.#results.set(callId, `Error: ${messageOf(fieldIn(part, "error"))}`);
        return false;
      case "tool-approval-request":
        this.#emit(this.#toApproval(fieldIn(part, "toolCall") ?? part, "pending"));
        return false;
      case "tool-output-denied":
        this.#emit(this.#toApproval(part, "denied"));
        if (!this.#results.has(callId)) this.#results.set(callId, textIn(part, "reason") ?? "Denied");
        return false;
      case "tool-approval-response":
        this.#emit(this.#toApproval(part, fieldIn(part, "approved") === true ? "approved" : "denied"));
        return false;
      case "error":
        throw fieldIn(part, "error");
      case "finish-step":
        return true;
      default:
        return false;
    }
  }

  /** Calls whose input never became whole. */
  takeBroken(): string[] {
    const broken = [...this.#started];
    this.#started = new Set();
    return broken;
  }

  /** Undefined when nothing was said and nothing was called. */
  take(usage: StreamUsage | undefined): OpenStep | undefined {
    if (this.isEmpty) return undefined;
    const metrics = usage && toStepMetrics(usage);
    const results = this.#calls.flatMap(({ tool_call_id: id }) => {
      const content = this.#results.get(id);
      return content === undefined ? [] : [{ source_call_id: id, content }];
    });
    const step: OpenStep = {
      message: this.#text,
      model_name: this.#modelId,
      ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
      ...(results.length > 0 && { observation: { results } }),
      ...defined({ metrics }),
    };
    this.#text = "";
    this.#reasoning = "";
    this.#calls = [];
    this.#results = new Map();
    return step;
  }

  #toApproval(part: unknown, state: "pending" | "approved" | "denied"): TrajectoryEvent {
    const toolCallId = textIn(part, "toolCallId");
    const toolName = textIn(part, "toolName");
    const reason = textIn(part, "reason");
    const providerExecuted = fieldIn(part, "providerExecuted");
    return {
      type: "approval",
      timestamp: this.#now(),
      state,
      ...defined({ toolCallId, toolName, reason }),
      ...(typeof providerExecuted === "boolean" && { providerExecuted }),
    };
  }
}

export function usageOfStep(part: unknown): StreamUsage | undefined {
  return toStreamUsage(fieldIn(part, "usage"));
}

function toStepMetrics({ inputTokens, outputTokens, cachedTokens, costUsd }: StreamUsage): StepMetrics | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return {
    ...defined({ prompt_tokens: inputTokens, completion_tokens: outputTokens, cached_tokens: cachedTokens, cost_usd: costUsd }),
  };
}

/** The names of several versions of the SDK. */
function deltaIn(part: unknown): string {
  return textIn(part, "text") ?? textIn(part, "delta") ?? textIn(part, "textDelta") ?? "";
}

function textIn(value: unknown, name: string): string | undefined {
  const text = fieldIn(value, name);
  return typeof text === "string" ? text : undefined;
}

function toOutput(output: unknown): string {
  return typeof output === "string" ? output : (JSON.stringify(output) ?? "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : toOutput(error);
}
