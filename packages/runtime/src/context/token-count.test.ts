import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AssistantMessage, type Message, userText } from "../protocol/content.ts";
import { TokenCount } from "./token-count.ts";
import { estimateMessage, estimateMessages, estimateOverhead } from "./token-estimate.ts";

const request = { system: "s".repeat(350), tools: [] };
const overhead = estimateOverhead(request);

function answer(inputTokens: number, outputTokens = 10): AssistantMessage {
  return {
    role: "assistant",
    model: { provider: "p", id: "m" },
    finish: "stop",
    usage: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    content: [{ type: "text", text: "a".repeat(70) }],
  };
}

const question = userText("q".repeat(350));

describe("TokenCount", () => {
  it("guesses until the provider has counted, and takes its word from then on", () => {
    const count = new TokenCount(request, 0);
    assert.equal(count.used([question]), overhead + estimateMessage(question));
    assert.deepEqual([count.isProved, count.scale], [false, 1]);
    const estimated = overhead + estimateMessage(question);
    const messages: Message[] = [question, answer(estimated * 1.5, 30), question];
    assert.equal(count.used(messages), estimated * 1.5 + 30 + estimateMessage(question) * 1.5);
    assert.deepEqual([count.isProved, count.scale], [true, 1.5]);
  });

  it("believes no count that is far from what tokenizers differ by", () => {
    for (const [counted, scale] of [
      [1_000_000, 2],
      [1, 0.05],
    ] as const) {
      const count = new TokenCount(request, 0);
      count.used([question, answer(counted)]);
      assert.equal(count.scale, scale);
    }
  });

  it("takes the last answer that was counted, and none from before a compaction", () => {
    const count = new TokenCount(request, 0);
    const messages = [question, answer(300, 1), question, answer(500, 1), question, answer(0, 0)];
    const rest = estimateMessages(messages, 4);
    assert.equal(count.used(messages), 501 + rest * count.scale);
    assert.equal(count.firstMeasured(messages)?.tokens, 300);
    count.restart(messages);
    assert.equal(count.firstMeasured(messages), undefined);
    const { scale } = count;
    assert.equal(count.used(messages), (overhead + estimateMessages(messages)) * scale);
    assert.equal(count.firstMeasured([...messages, answer(250)])?.tokens, 250);
    assert.equal(new TokenCount(request, 3).firstMeasured(messages)?.tokens, 500);
  });

  it("compares by one count: our own, as the provider's scale has it, unless its count is none of these words", () => {
    for (const scale of [1 / 3, 1, 3]) {
      const count = new TokenCount(request, 0);
      const estimated = overhead + estimateMessage(question);
      const messages = [question, answer(estimated * scale, 5_000), question]; // most of the answer was thought, and is not kept
      assert.equal(
        Math.round(count.comparable(messages)),
        Math.round((overhead + estimateMessages(messages)) * Math.min(2, scale)),
      );
    }
    assert.equal(new TokenCount(request, 0).comparable([question, answer(1_000_000)]), 1_000_010);
    const [estimated, after] = [overhead + estimateMessage(question), estimateMessage(answer(0))];
    for (const [ratio, scale] of [
      [4, 2],
      [0.05, 0.05],
    ] as const) {
      const padded = new TokenCount({ ...request, system: "s".repeat(3.5 * (overhead + 1_000 - estimated)) }, 0);
      assert.equal(padded.comparable([question, answer(1_000 * ratio, 5_000)]), (1_000 + after) * scale, `${ratio} is believed`);
    }
  });

  it("tells what is how large, with a prompt and without one", () => {
    const count = new TokenCount(request, 0);
    const messages = [question, answer(0)];
    const [own, all] = [estimateMessage(question), estimateMessages(messages)];
    assert.deepEqual(count.parts(messages, question), { overhead, prompt: own, rest: all - own });
    assert.deepEqual(count.parts(messages, undefined), { overhead, prompt: 0, rest: all });
  });
});
