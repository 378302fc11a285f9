import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import { createClaudeFormat } from "./claude-format.ts";

const start = Date.parse("2026-01-01T00:00:00.000Z");

/** Frames of events that happen at these milliseconds after the start. */
function encode(timed: readonly (readonly [ms: number, body: EventBody & { taskId?: string }])[]): Record<string, unknown>[] {
  const format = createClaudeFormat("stream-json", { sessionId: "s", newId: () => "u" });
  const text = timed
    .map(([ms, body], index) => {
      const at = new Date(start + ms).toISOString();
      return format.event({ seq: index + 1, at, sessionId: "s", ...body } as AgentEvent); // as the hub does
    })
    .join("");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const started = (callId: string): EventBody => ({ type: "tool.started", callId, name: "Bash", input: {} });
const progress = (callId: string, text = ""): EventBody => ({ type: "tool.progress", callId, text });
const thought = (text: string, messageId = "m1"): EventBody => ({ type: "reasoning.delta", messageId, text });

describe("signs of life", () => {
  it("of a tool come every 30 seconds, however much it says, each tool by its own clock", () => {
    const frames = encode([
      [0, started("c1")],
      [20_000, started("c2")],
      [1_000, progress("c1", "line")],
      [30_004, progress("c1")],
      [30_100, progress("c1", "more")],
      [50_010, progress("c2")],
      [60_009, progress("c1")],
      [89_000, progress("c1", "again")],
      [90_001, progress("gone")],
    ]);
    assert.deepEqual(
      frames.map(({ type, tool_use_id, tool_name, parent_tool_use_id, elapsed_time_seconds }) => [
        type,
        tool_use_id,
        tool_name,
        parent_tool_use_id,
        elapsed_time_seconds,
      ]),
      [
        ["tool_progress", "c1", "Bash", null, 30],
        ["tool_progress", "c2", "Bash", null, 30],
        ["tool_progress", "c1", "Bash", null, 60],
      ],
    );
  });

  it("of a thinking model come at once and then once a second, and begin anew with each answer", () => {
    const frames = encode([
      [0, thought("12345678")],
      [500, thought("1234")],
      [1_000, thought("1234")],
      [1_500, thought("")],
      [2_500, thought("")],
      [2_600, thought("1234", "m2")],
      [
        2_700,
        {
          type: "retry.scheduled",
          messageId: "m2",
          attempt: 1,
          maxRetries: 2,
          delayMs: 1,
          error: { code: "provider-overloaded", message: "x", retryable: true },
        },
      ],
      [2_800, thought("1234", "m2")],
      [9_000, { ...thought("of a subagent", "m3"), taskId: "t1" }],
    ]);
    assert.deepEqual(
      frames.map(({ subtype, estimated_tokens, estimated_tokens_delta }) => [subtype, estimated_tokens, estimated_tokens_delta]),
      [
        ["thinking_tokens", 2, 2],
        ["thinking_tokens", 4, 2],
        ["thinking_tokens", 1, 1],
        ["api_retry", undefined, undefined],
        ["thinking_tokens", 1, 1],
      ],
    );
  });
});
