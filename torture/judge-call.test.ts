import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judgeCall, type SeenCall } from "./judge-call.ts";

const cut = "(no output)\nInterrupted; the processes of the command were ended.";
const unknown = "Outcome unknown: this call was started at noon";
const ended: SeenCall = { isStarted: true, status: "ok", told: "done\n", effects: 1 };
const stopped: SeenCall = { isStarted: true, status: "interrupted", told: cut, effects: 0 };
const killed: SeenCall = { isStarted: true, status: undefined, told: unknown, effects: 0 };
const unbegun: SeenCall = { isStarted: false, status: undefined, told: "Not run: the run was interrupted", effects: 0 };

describe("how torture judges a call", () => {
  it("takes a call that was stopped or killed for one that may have had its effect or not", () => {
    const calls = [ended, stopped, { ...stopped, effects: 1 }, killed, { ...killed, effects: 1 }, unbegun];
    assert.deepEqual(
      calls.map((call) => judgeCall(call).type),
      ["done", "unknown", "unknown", "unknown", "unknown", "not-run"],
    );
  });

  it("finds a call that was lost, made twice, or told as something else", () => {
    const lies = [
      { ...ended, effects: 0 },
      { ...ended, effects: 2 },
      { ...ended, told: cut },
      { ...ended, status: "error" as const, effects: 0 },
      { ...stopped, told: "done\n" },
      { ...stopped, effects: 2 },
      { ...killed, told: undefined },
      { ...unbegun, effects: 1 },
      { ...unbegun, told: unknown },
    ];
    for (const call of lies) assert.equal(judgeCall(call).type, "lie", JSON.stringify(call));
  });
});
