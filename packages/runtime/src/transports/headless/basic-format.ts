import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { toLine } from "../../util/jsonl.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";

/** The library's plain contract: the answer as text, as one JSON object, or as text deltas followed by that object. */
export function createBasicFormat(name: OutputFormatName, ids: { sessionId: string; newId: () => string }): OutputFormat {
  switch (name) {
    case "text":
      return { event: () => "", end: async (outcome) => toText(outcome) };
    case "json":
      return { event: () => "", end: async (outcome) => toResult(outcome, ids.sessionId) };
    case "stream-json":
      return {
        event: (event) => (event.type === "text.delta" && event.taskId === undefined ? toDelta(event, ids.newId()) : ""),
        end: async (outcome) => toResult(outcome, ids.sessionId),
      };
  }
}

/** In this contract an interruption is a success with what had been said. */
export function isBasicSuccess(outcome: Outcome): boolean {
  return outcome.type === "completed" || outcome.type === "cancelled";
}

function toText(outcome: Outcome): string {
  return isBasicSuccess(outcome) && outcome.text ? `${outcome.text}\n` : "";
}

function toDelta(event: AgentEvent<"text.delta">, uuid: string): string {
  const delta = { type: "text_delta", text: event.text };
  return toLine({ type: "stream_event", event: { type: "content_block_delta", delta }, session_id: event.sessionId, uuid });
}

function toResult(outcome: Outcome, sessionId: string): string {
  const success = isBasicSuccess(outcome);
  return toLine({
    type: "result",
    result: success ? outcome.text : "",
    session_id: sessionId,
    subtype: success ? "success" : "error",
    ...(outcome.type === "failed" && { error: outcome.error }),
    ...(outcome.type === "stopped" && {
      error: { code: "limit-reached", message: `Stopped at the limit ${outcome.limit}`, retryable: false },
    }),
  });
}
