import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AssistantMessage, noUsage } from "../protocol/content.ts";
import { afterAnswer, Said } from "./after-answer.ts";

function answer(finish: AssistantMessage["finish"]): AssistantMessage {
  return { role: "assistant", model: { provider: "p", id: "m" }, finish, usage: { ...noUsage }, content: [] };
}

/** How often the model is asked on before the turn fails. */
function timesUntil(code: string, step: (said: Said, count: number) => void): number {
  const said = new Said();
  for (let count = 0; count < 100; count++) {
    try {
      step(said, count);
    } catch (error) {
      assert.equal((error as { code?: string }).code, code);
      return count;
    }
  }
  return assert.fail("it never ends");
}

describe("what follows an answer without calls", () => {
  it("is the end when there are words", () => {
    const said = new Said();
    said.add("done");
    assert.deepEqual(afterAnswer(answer("stop"), said), { type: "done" });
  });

  it("is one more try when there are none, and then a failure", () => {
    const said = new Said();
    said.add(" \n");
    assert.equal(afterAnswer(answer("stop"), said).type, "ask-again");
    assert.throws(() => afterAnswer(answer("stop"), said), { code: "model-empty-answer", retryable: true });
  });

  it("is three continuations of an answer that is cut off, and thirty of all answers", () => {
    assert.equal(
      timesUntil("model-output-limit", (said) => afterAnswer(answer("length"), said)),
      3,
    );
    const closing = timesUntil("model-output-limit", (said, count) => {
      if (count % 3 === 0) said.closeAnswer();
      afterAnswer(answer("length"), said);
    });
    assert.equal(closing, 30);
  });

  it("says which of the two limits it was", () => {
    const [one, all] = [new Said(), new Said()];
    assert.throws(
      () => {
        for (let count = 0; count < 100; count++) afterAnswer(answer("length"), one);
      },
      { message: "The answer was still cut off by the output limit after 3 continuations" },
    );
    assert.throws(
      () => {
        for (let count = 0; count < 100; count++, all.closeAnswer()) afterAnswer(answer("length"), all);
      },
      { message: "Answers were cut off by the output limit 30 times in one turn" },
    );
  });

  it("is twenty pauses", () => {
    assert.equal(
      timesUntil("provider-protocol", (said) => afterAnswer(answer("paused"), said)),
      20,
    );
  });

  it("is a failure when the model or a filter refused", () => {
    for (const finish of ["refusal", "content-filter"] as const)
      assert.throws(() => afterAnswer(answer(finish), new Said()), { code: "model-refusal" });
  });

  it("keeps the last words, also when an answer without any follows", () => {
    const said = new Said();
    said.add("half ");
    said.add("and half");
    said.closeAnswer();
    said.add("  ");
    assert.deepEqual([said.answer, said.last], ["  ", "half and half"]);
  });
});
