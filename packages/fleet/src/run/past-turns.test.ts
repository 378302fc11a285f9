import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "@outrider/runtime";
import { lookBack } from "./past-turns.ts";

const events = (...told: readonly object[]): AgentEvent[] => told as AgentEvent[]; // what is looked at of them
const started = { type: "turn.started", input: { role: "user", content: [] } };
const answer = (text: string, finish = "stop") => ({
  type: "message.ended",
  message: { content: text === "" ? [{ type: "tool-call" }] : [{ type: "text", text }], finish },
});
const ended = (outcome: object) => ({ type: "turn.ended", outcome });
const closed = { type: "failed", text: "", error: { code: "closed", message: "The process ended", retryable: false } };

describe("how far a journal has come", () => {
  const look = (...told: readonly object[]) => lookBack(events(...told), { isFree: true });

  it("is its end where the last turn has one", () => {
    const outcome = { type: "completed", text: "done" };
    assert.deepEqual(look(started, answer("done"), ended(outcome)), { type: "ended", outcome });
    assert.equal(look(started, ended({ type: "cancelled", cause: "signal", text: "" }), started).type, "new");
  });

  it("is no end that only says that the process died, however often it did", () => {
    assert.deepEqual(look(started, answer("", "tool-calls"), ended(closed)), { type: "cut-off" });
    assert.deepEqual(look(started, answer("", "tool-calls"), ended(closed), started, ended(closed)), { type: "cut-off" });
    assert.deepEqual(look(started, ended(closed)), { type: "new" });
  });

  it("is what the model said last where it had said all, and the death came before the end was written", () => {
    assert.deepEqual(look(started, answer("all"), ended(closed)), { type: "ended", outcome: { type: "completed", text: "all" } });
    assert.equal(lookBack(events(started, answer("all")), { isFree: false }).type, "cut-off");
  });
});
