import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ended, event } from "../../../../test/support/sample-events.ts";
import type { AgentEvent, CompactionResult } from "../protocol/events.ts";
import { shownInstructions } from "./shown-instructions.ts";

function read(callId: string, paths: string[], taskId?: string): AgentEvent {
  const instructions = paths.map((path) => ({ path, bytes: 1 }));
  return { ...ended(callId, "Read", { text: "", details: { instructions } }), ...(taskId !== undefined && { taskId }) };
}

const cleared = (...callIds: string[]): AgentEvent =>
  event({
    type: "context.cleared",
    through: 1,
    results: callIds.map((callId) => ({ callId, note: "" })),
    preTokens: 2,
    postTokens: 1,
  });

const compaction = (result: CompactionResult): AgentEvent =>
  event({ type: "compaction.ended", compactionId: "c", trigger: "auto", preTokens: 2, durationMs: 1, result });

describe("the instruction files a conversation still shows", () => {
  const shown = (...events: AgentEvent[]): string[] =>
    shownInstructions(events as Parameters<typeof shownInstructions>[0] & AgentEvent[]).map(
      ({ path, callId }) => `${path} of ${callId}`,
    );

  it("are those that came with its own calls", () => {
    assert.deepEqual(shown(read("1", ["/a", "/b"]), read("2", []), read("3", ["/c"]), read("4", ["/d"], "task")), [
      "/a of 1",
      "/b of 1",
      "/c of 3",
    ]);
  });

  it("are gone with the results that were replaced by notes", () => {
    assert.deepEqual(shown(read("1", ["/a"]), read("2", ["/b"]), cleared("1"), read("3", ["/c"])), ["/b of 2", "/c of 3"]);
  });

  it("are all gone after a summary, and stay when there was none", () => {
    const summary: CompactionResult = { type: "compacted", replaced: 1, preface: "", summary: "s", files: [], postTokens: 1 };
    assert.deepEqual(shown(read("1", ["/a"]), compaction(summary), read("2", ["/b"])), ["/b of 2"]);
    assert.deepEqual(shown(read("1", ["/a"]), compaction({ type: "cancelled" })), ["/a of 1"]);
  });
});
