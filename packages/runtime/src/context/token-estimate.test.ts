import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage, userText } from "../protocol/content.ts";
import { estimateMessages, estimateOverhead, estimateText } from "./token-estimate.ts";

describe("an estimate of tokens", () => {
  it("is one for three and a half bytes, rounded up", () => {
    assert.deepEqual(["", "a", "abc", "abcd", "x".repeat(35), "é".repeat(35)].map(estimateText), [0, 1, 1, 2, 10, 20]);
  });

  it("counts messages from one place to another", () => {
    const messages = [userText("a"), userText("x".repeat(35)), userText("b")];
    const [first, second, third] = messages.map((message) => estimateMessages([message]));
    assert.deepEqual([first, second, third], [5, 14, 5]);
    assert.deepEqual(
      [
        estimateMessages(messages),
        estimateMessages(messages, 1),
        estimateMessages(messages, 0, 2),
        estimateMessages(messages, 1, 9),
      ],
      [24, 19, 19, 19],
    );
  });

  it("counts calls by their name and what was given to them, were it nothing", () => {
    const call = (input: unknown): number =>
      estimateMessages([
        {
          ...{ role: "assistant", model: { provider: "p", id: "m" }, finish: "tool-calls", usage: noUsage },
          content: [{ type: "tool-call", callId: "c", name: "x".repeat(35), input }],
        },
      ]);
    assert.deepEqual([call("x".repeat(33)), call(undefined)], [24, 14]);
  });

  it("counts the system prompt and the tools, where there are any", () => {
    const tool = { name: "Read", description: "Reads", inputSchema: {} };
    assert.equal(estimateOverhead({ system: "x".repeat(35), tools: [] }), 10);
    assert.equal(estimateOverhead({ system: "", tools: [tool] }), estimateText(JSON.stringify([tool])));
  });
});
