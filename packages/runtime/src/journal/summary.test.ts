import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { event } from "../../../../test/support/sample-events.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { addToSummary, type SummaryDraft } from "./summary.ts";

describe("the summary of a session", () => {
  const summary = (...events: AgentEvent[]): SummaryDraft | undefined =>
    events.reduce<SummaryDraft | undefined>((draft, one) => addToSummary(draft, "s", one), undefined);
  const named = event({ type: "session.named", name: "cart" });
  const over = event({ type: "session.ended", reason: "done" });

  it("shows the beginning of a long prompt, with a sign that there is more", () => {
    const shown = (text: string): string | undefined =>
      summary(event({ type: "turn.started", input: { role: "user", content: [{ type: "text", text }] } }))?.prompt;
    const longest = "x".repeat(200);
    assert.deepEqual([shown(longest), shown(`${longest}y`)], [longest, `${longest.slice(1)}…`]);
  });

  it("says why it ended, until it is used again", () => {
    assert.deepEqual(summary(named, over), {
      id: "s",
      name: "cart",
      cwd: "",
      createdAt: "2026-01-02T03:04:05.000Z",
      updatedAt: "2026-01-02T03:04:05.000Z",
      prompt: "",
      turns: 0,
      ended: "done",
    });
    const again = summary(named, over, { ...named, at: "2026-01-02T03:05:00.000Z" });
    assert.deepEqual([again && "ended" in again, again?.updatedAt], [false, "2026-01-02T03:05:00.000Z"]);
  });
});
