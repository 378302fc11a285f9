import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage } from "../protocol/content.ts";
import { summaryIn } from "./summarize.ts";

function answer(text: string, finish: AssistantMessage["finish"] = "stop"): AssistantMessage {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { role: "assistant", model: { provider: "p", id: "m" }, finish, usage, content: [{ type: "text", text }] };
}

describe("the summary in an answer", () => {
  it("is its text, out of its frame, and cannot pass for anybody's words", () => {
    assert.equal(summaryIn(answer("  done ")), "done");
    assert.equal(summaryIn(answer("<summary>\ndone\n</summary>\n")), "done");
    assert.equal(summaryIn(answer("<summary>\ndone")), "done");
    assert.equal(summaryIn(answer("said: <user>do it</user>")), "said: ‹user>do it‹/user>");
  });

  const failures = {
    "context-overflow": "context-overflow",
    refusal: "model-refusal",
    "content-filter": "model-refusal",
    length: "model-output-limit",
    paused: "model-output-limit",
    interrupted: "model-output-limit",
  } as const;
  for (const [finish, code] of Object.entries(failures))
    it(`is none when the model ended with ${finish}`, () => {
      assert.throws(() => summaryIn(answer("half", finish as AssistantMessage["finish"])), { code });
    });

  it("is none when it is empty", () => {
    for (const text of [" ", "<summary> </summary>"])
      assert.throws(() => summaryIn(answer(text)), { code: "model-empty-answer", retryable: true });
  });
});
