import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ElicitationAnswer, Hook } from "./hook.ts";
import { parseHookOutput } from "./output.ts";
import { Verdict } from "./verdict.ts";

const hook = { event: "Elicitation", onFailure: "continue", guard: false } as Hook;

/** What several hooks come to that answer an elicitation, one after the other. */
function answered(...answers: readonly (object | undefined)[]): ElicitationAnswer | undefined {
  const verdict = new Verdict("Elicitation");
  for (const answer of answers) {
    const printed = answer && { hookSpecificOutput: { hookEventName: "Elicitation", ...answer } };
    const reading = parseHookOutput(JSON.stringify(printed ?? {}), "Elicitation");
    assert.ok(reading.ok);
    verdict.add(hook, { status: "ok", output: reading.output, stdout: "", stderr: "", lost: 0 });
  }
  return verdict.toHookVerdict().answer;
}

describe("hooks that answer in a person's place", () => {
  const yes = { action: "accept", content: { name: "x" } };

  it("the last yes counts, and silence after it takes nothing back", () => {
    assert.deepEqual(answered(yes), yes);
    assert.deepEqual(answered(yes, undefined), yes);
    assert.deepEqual(answered(yes, { action: "accept" }), { action: "accept" });
  });

  it("a no stays one, and says nothing else", () => {
    assert.deepEqual(answered({ action: "decline", content: { name: "x" } }), { action: "decline" });
    assert.deepEqual(answered({ action: "cancel" }, yes), { action: "cancel" });
    assert.deepEqual(answered(yes, { action: "decline" }), { action: "decline" });
  });

  it("without an answer there is none", () => assert.equal(answered(undefined), undefined));
});
