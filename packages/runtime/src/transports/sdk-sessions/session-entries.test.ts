import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "../../protocol/events.ts";
import { SessionEntries } from "./session-entries.ts";

function prompt(seq: number, turnId: string): AgentEvent {
  const input = { role: "user", content: [{ type: "text", text: turnId }] } as const;
  return {
    type: "turn.started",
    seq,
    at: "2026-01-01T00:00:00.000Z",
    sessionId: "s",
    turnId,
    input: { ...input, content: [...input.content] },
  };
}

const back = (seq: number, to: number): AgentEvent => {
  return { type: "session.rewound", seq, at: "2026-01-01T00:00:00.000Z", sessionId: "s", to };
};

describe("the lines of a session that went back", () => {
  it("form a chain that passes over what was left behind", () => {
    const entries = new SessionEntries({ sessionId: "s", entrypoint: "cli" });
    const events = [prompt(1, "a"), prompt(2, "b"), prompt(3, "c"), back(4, 2), prompt(5, "d"), back(6, 3), prompt(7, "e")];
    const links = events.flatMap((event) => entries.of(event)).map(({ uuid, line }) => [uuid, line["parentUuid"]]);
    assert.deepEqual(links, [
      ["a", null],
      ["b", "a"],
      ["c", "b"],
      ["d", "b"],
      ["e", "c"],
    ]);
  });

  it("begin anew when nothing is left", () => {
    const entries = new SessionEntries({ sessionId: "s", entrypoint: "cli" });
    const links = [prompt(2, "a"), back(3, 1), prompt(4, "b")].flatMap((event) => entries.of(event));
    assert.equal(links[1]?.line["parentUuid"], null);
  });
});
