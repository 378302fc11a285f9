import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outcome } from "@outrider/runtime";
import { exitCodeOf } from "./exit-codes.ts";

const failed = (code: string): Outcome =>
  ({ type: "failed", error: { code, message: "", retryable: false }, text: "" }) as Outcome; // any code of the list

describe("the exit code", () => {
  it("follows from the outcome alone", () => {
    const table: [Outcome, number][] = [
      [{ type: "completed", text: "" }, 0],
      [{ type: "stopped", limit: "max-turns", text: "" }, 75],
      [{ type: "stopped", limit: "max-requests", text: "" }, 75],
      [{ type: "stopped", limit: "loop", text: "" }, 76],
      [{ type: "stopped", limit: "max-budget", text: "" }, 137],
      [{ type: "cancelled", cause: "signal", text: "" }, 124],
      [{ type: "cancelled", cause: "deadline", text: "" }, 124],
      [{ type: "cancelled", cause: "output-closed", text: "" }, 124],
      [failed("usage"), 64],
      [failed("no-input"), 66],
      [failed("not-found"), 66],
      [failed("config"), 78],
      [failed("storage-failed"), 78],
      [failed("model-refusal"), 2],
      [failed("model-empty-answer"), 2],
      [failed("output-schema"), 2],
      [failed("replay-mismatch"), 65],
      [failed("provider-auth"), 1],
      [failed("internal"), 1],
    ];
    assert.deepEqual(
      table.map(([outcome]) => exitCodeOf(outcome, { env: {} })),
      table.map(([, code]) => code),
    );
  });

  it("says success where Claude Code's results do, and stays our own elsewhere", () => {
    const env = { OUTRIDER_CLAUDE_RESULTS: "1" };
    const limited = (limit: "hook" | "max-turns"): Outcome => ({ type: "stopped", limit, text: "" });
    assert.deepEqual(
      [limited("hook"), limited("max-turns"), failed("usage")].map((outcome) => exitCodeOf(outcome, { env })),
      [0, 75, 64],
    );
    assert.equal(exitCodeOf(failed("usage"), { env, begun: true }), 0);
  });

  it("is Claude Code's where a program asks for it", () => {
    const env = { OUTRIDER_CLAUDE_EXIT_CODES: "1" };
    const cancelled: Outcome = { type: "cancelled", cause: "signal", text: "" };
    const table: [Outcome, NodeJS.Signals | undefined, number][] = [
      [{ type: "completed", text: "" }, undefined, 0],
      [{ type: "stopped", limit: "max-turns", text: "" }, undefined, 1],
      [{ type: "stopped", limit: "hook", text: "" }, undefined, 0],
      [failed("usage"), undefined, 1],
      [failed("model-refusal"), undefined, 1],
      [cancelled, "SIGINT", 0],
      [cancelled, "SIGTERM", 143],
      [cancelled, "SIGHUP", 129],
      [{ type: "cancelled", cause: "output-closed", text: "" }, undefined, 0],
      [{ type: "cancelled", cause: "deadline", text: "" }, undefined, 1],
    ];
    assert.deepEqual(
      table.map(([outcome, signal]) => exitCodeOf(outcome, { env, signal })),
      table.map(([, , code]) => code),
    );
    assert.equal(exitCodeOf(failed("usage"), { env, begun: true }), 0, "a command that was typed in a turn");
  });
});
