import {
  type AssistantMessage,
  callsOf,
  type JsonObject,
  type JsonValue,
  type ReasoningPart,
  textOf,
  type ToolCallPart,
  type Usage,
} from "../../../protocol/content.ts";
import type { ErrorData } from "../../../protocol/errors.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Outcome } from "../../../protocol/outcome.ts";
import type { Extra, Metrics, ObservationResult, Step, ToolCall } from "../atif.ts";
import type { MediaFiles } from "../media-files.ts";
import { defined } from "../../../util/defined.ts";

/** One answer of a model as a step; what its tools say is added later. */
export function toAnswerStep(event: AgentEvent<"message.ended">, costUsd: number | null): Omit<Step, "step_id"> {
  const { message, requestedModel, durationMs } = event;
  const reasoning = message.content.filter((part): part is ReasoningPart => part.type === "reasoning");
  const calls = toToolCalls(message);
  const metrics = toMetrics(message.usage, costUsd);
  const opaque = message.content.filter((part) => part.type === "opaque").length;
  return {
    timestamp: event.at,
    source: "agent",
    model_name: message.model.id,
    message: textOf(message.content),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.map((part) => part.text).join("\n\n") }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...defined({ metrics }),
    llm_call_count: 1,
    extra: {
      provider: message.model.provider,
      finish: message.finish,
      duration_ms: durationMs,
      ...(requestedModel !== message.model.id && { requested_model: requestedModel }),
      ...defined({ stop_reason: message.stopReason, response_id: message.responseId }),
      ...(opaque > 0 && { opaque_parts: opaque }),
    },
  };
}

/** Undefined where nobody counted: an answer that was cut off, or a script's. */
export function toMetrics(usage: Usage, costUsd: number | null): Metrics | undefined {
  if (usage.inputTokens === 0 && usage.outputTokens === 0) return undefined;
  const { reasoningTokens, cacheWriteTokens } = usage;
  const extra: Extra = {
    ...(reasoningTokens > 0 && { reasoning_tokens: reasoningTokens }),
    ...(cacheWriteTokens > 0 && { cache_creation_input_tokens: cacheWriteTokens }),
  };
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    cached_tokens: usage.cacheReadTokens,
    ...(costUsd !== null && { cost_usd: costUsd }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** Ids are unique within a step, also where a model gave one twice. */
function toToolCalls(message: AssistantMessage): ToolCall[] {
  const seen = new Map<string, number>();
  return callsOf(message).map((call) => {
    const times = (seen.get(call.callId) ?? 0) + 1;
    seen.set(call.callId, times);
    const id = times === 1 ? call.callId : `${call.callId}#${times}`;
    return {
      tool_call_id: id,
      function_name: call.name,
      arguments: toArguments(call.input),
      ...(call.malformedInput !== undefined && { extra: { malformed_input: call.malformedInput } }),
    };
  });
}

export function toArguments(input: ToolCallPart["input"]): JsonObject {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as JsonObject; // it came as JSON
  return { input: (input ?? null) as JsonValue };
}

export function toResult(event: AgentEvent<"tool.ended">, media: MediaFiles): ObservationResult {
  const { details, result } = event;
  return {
    source_call_id: event.callId,
    content: media.toContent(result.content, "\n"),
    extra: {
      status: event.status,
      is_error: result.isError,
      duration_ms: event.durationMs,
      ...(details?.exitCode !== undefined && { exit_code: details.exitCode }),
      ...(details?.file !== undefined && { file: details.file }),
      ...(details?.fullOutputPath !== undefined && { truncated: true, full_output_path: details.fullOutputPath }),
    },
  };
}

export function toOutcomeExtra(outcome: Outcome): Extra {
  switch (outcome.type) {
    case "completed":
      return { status: "completed" };
    case "stopped":
      return {
        status: "stopped",
        stop_reason: outcome.limit,
        ...defined({ reason: outcome.reason }),
      };
    case "cancelled":
      return { status: "cancelled", stop_reason: outcome.cause };
    case "failed":
      return { status: "failed", stop_reason: outcome.error.code, error: toErrorExtra(outcome.error) };
  }
}

export function toErrorExtra(error: ErrorData): Extra {
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    ...defined({ http_status: error.httpStatus, hint: error.hint }),
  };
}
