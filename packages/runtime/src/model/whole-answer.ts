import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { Payload } from "./framing.ts";
import { parseJson } from "./dialects/json-fields.ts";

/** What an answer that came in one piece would have been as a stream; so a decoder has to know one form only. Undefined when it is no answer. */
export function toStreamed(dialectId: string, body: string): readonly Payload[] | undefined {
  const parsed = parseJson(body);
  const answers = Array.isArray(parsed) ? parsed : [parsed]; // Gemini without `alt=sse` makes a list of its pieces
  if (answers.length === 0 || !answers.every(isJsonObject)) return undefined;
  const payloads = answers.flatMap((answer) => streams[dialectId]?.(answer) ?? []);
  return payloads.length === 0 ? undefined : payloads.map((payload) => ({ event: undefined, data: JSON.stringify(payload) }));
}

/** An error keeps its own form: every decoder knows it. Nothing at all: this is not what the wire answers. */
const streams: Readonly<Record<string, (answer: JsonObject) => readonly JsonObject[]>> = {
  "anthropic-messages": (answer) => {
    if (answer["type"] === "error") return [answer];
    return answer["type"] === "message" && Array.isArray(answer["content"]) ? toMessageEvents(answer, answer["content"]) : [];
  },
  // The decoder takes a whole `message` where a `delta` would be.
  "openai-chat": (answer) => ("choices" in answer || "error" in answer ? [answer] : []),
  "openai-responses": (answer) => {
    if (isJsonObject(answer["error"]) && answer["object"] !== "response") return [{ type: "error", error: answer["error"] }];
    return answer["object"] === "response" || Array.isArray(answer["output"])
      ? [{ type: "response.completed", response: answer }]
      : [];
  },
  gemini: (answer) => ("candidates" in answer || "promptFeedback" in answer || "error" in answer ? [answer] : []),
};

function toMessageEvents(message: JsonObject, content: readonly JsonValue[]): JsonObject[] {
  const { stop_reason = null, stop_sequence = null, usage = {} } = message;
  return [
    { type: "message_start", message: { ...message, content: [] } },
    ...content.filter(isJsonObject).flatMap(toBlockEvents),
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage },
    { type: "message_stop" },
  ];
}

function toBlockEvents(block: JsonObject, index: number): JsonObject[] {
  const isCall = block["type"] === "tool_use";
  const start = { type: "content_block_start", index, content_block: isCall ? { ...block, input: {} } : block };
  const input = { type: "input_json_delta", partial_json: JSON.stringify(block["input"] ?? {}) };
  const stop = { type: "content_block_stop", index };
  return isCall ? [start, { type: "content_block_delta", index, delta: input }, stop] : [start, stop];
}
