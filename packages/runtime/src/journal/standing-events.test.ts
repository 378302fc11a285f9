import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { standingAt, standingEvents } from "./standing-events.ts";
import { toStoredEvents } from "./stored-events.ts";

/** Numbers are prompts, `-3` goes back to event 3, a word is a name. */
function journal(...steps: readonly (number | string)[]): AgentEvent[] {
  return steps.map((step, index) => {
    const envelope = { seq: index + 1, at: "2026-01-01T00:00:00.000Z", sessionId: "s" };
    if (typeof step === "string") return { ...envelope, type: "session.named", name: step };
    if (step < 0) return { ...envelope, type: "session.rewound", to: -step };
    return { ...envelope, type: "turn.started", input: { role: "user", content: [{ type: "text", text: String(step) }] } };
  });
}

function prompts(events: Iterable<AgentEvent>): string {
  return [...events]
    .flatMap((event) => (event.type === "turn.started" ? event.input.content : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join(" ");
}

describe("a session as it stands", () => {
  it("holds what has no number yet", () => {
    const [prompt, back] = journal(1, -1) as [AgentEvent, AgentEvent<"session.rewound">];
    const { seq: _, ...unnumbered } = prompt;
    const steps = [unnumbered, { ...back, to: 0 }];
    assert.deepEqual(standingEvents(steps), steps);
  });

  it("is all of it when it never went back", () => {
    const stored = toStoredEvents(journal(1, 2, 3));
    assert.equal(prompts(standingEvents(stored)), "1 2 3");
    assert.equal(standingAt(stored, undefined), stored, "and is not looked at");
  });

  it("leaves out what came after the place it went back to", () => {
    assert.equal(prompts(standingEvents(journal(1, 2, 3, -1, 4))), "1 4");
  });

  it("goes back twice, further, and to before everything", () => {
    assert.equal(prompts(standingEvents(journal(1, 2, -1, 3, 4, -4, 5))), "1 3 5");
    assert.equal(prompts(standingEvents(journal(1, 2, 3, -2, 4, -1, 5))), "1 5");
    assert.equal(prompts(standingEvents(journal("name", 1, -1, 5))), "5");
  });

  it("can go back to what was left behind, as it stood then", () => {
    assert.equal(prompts(standingEvents(journal(1, 2, 3, -1, 4, -3, 5))), "1 2 3 5");
  });

  it("keeps a name it was given since", () => {
    const events = standingEvents(journal(1, 2, "late", -1));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["turn.started", "session.named", "session.rewound"],
    );
  });

  it("is opened at an event as it stood there", () => {
    const stored = toStoredEvents(journal(1, 2, -1, 3, "late"));
    assert.equal(prompts(standingAt(stored, undefined)), "1 3");
    assert.equal(prompts(standingAt(stored, 2)), "1 2");
    assert.equal(standingAt(stored, 2).last("session.named")?.name, "late");
  });
});
