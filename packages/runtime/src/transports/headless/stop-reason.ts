import type { AssistantMessage, FinishReason } from "../../protocol/content.ts";

/** Claude Code's word for why the model stopped, whatever its provider calls it. */
export function toStopReason({ finish, stopReason }: AssistantMessage): string | null {
  return words[finish] ?? stopReason ?? null;
}

const words: Partial<Record<FinishReason, string>> = {
  stop: "end_turn",
  "stop-sequence": "stop_sequence",
  length: "max_tokens",
  "tool-calls": "tool_use",
  paused: "pause_turn",
  refusal: "refusal",
  "content-filter": "refusal",
  "context-overflow": "model_context_window_exceeded",
};
