import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Message, userText } from "../protocol/content.ts";
import { chooseCut, type CutOptions } from "./choose-cut.ts";
import { estimateMessage } from "./token-estimate.ts";

const message = userText("x".repeat(350));
const size = estimateMessage(message);
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const call: Message = { role: "assistant", model: { provider: "p", id: "m" }, finish: "tool-calls", usage, content: [] };
const result: Message = {
  role: "tool",
  content: [{ type: "tool-result", callId: "c", name: "Read", content: [{ type: "text", text: "x" }], isError: false }],
};

function cut(messages: readonly Message[], options: Partial<CutOptions>): number {
  const nothing = { keepTokens: 0, lastTokens: 0, prompt: undefined, hasSummary: false, force: false };
  return chooseCut(messages, { ...nothing, ...options });
}

describe("how many messages give way to a summary", () => {
  const six = Array.from({ length: 6 }, () => message);

  it("all but what may be kept, to the token", () => {
    assert.equal(cut(six, { keepTokens: size * 2 }), 4);
    assert.equal(cut(six, { keepTokens: size * 2 - 1 }), 5);
    assert.equal(cut(six, { keepTokens: size * 100 }), 3); // at most half stays
  });

  it("the last exchange may be larger than the rest of what is kept", () => {
    assert.equal(cut(six, { keepTokens: 1, lastTokens: size }), 5);
    assert.equal(cut(six, { keepTokens: 1, lastTokens: size - 1 }), 6);
    assert.equal(cut(six, { keepTokens: size, lastTokens: size * 3 }), 5);
  });

  it("no call is parted from its results", () => {
    const exchange = [message, message, call, result];
    const [asked, answered] = [call, result].map(estimateMessage);
    assert.equal(cut(exchange, { keepTokens: (asked ?? 0) + (answered ?? 0) }), 2);
    assert.equal(cut(exchange, { keepTokens: answered ?? 0 }), 4);
  });

  it("neither the prompt nor an earlier summary alone is worth one", () => {
    const three = six.slice(0, 3);
    assert.equal(cut(three, { keepTokens: size, prompt: 0 }), 2);
    assert.equal(cut(three, { keepTokens: size, prompt: 0, hasSummary: true }), 0);
    assert.equal(cut(three, { keepTokens: size, prompt: 2, hasSummary: true }), 2);
    assert.equal(cut(three, { keepTokens: size, prompt: 0, hasSummary: true, force: true }), 3);
    assert.equal(cut(six.slice(0, 2), { keepTokens: size, prompt: 0, hasSummary: true, force: true }), 0);
    assert.equal(cut([message], { keepTokens: size, lastTokens: size }), 0);
    assert.equal(cut([message], { keepTokens: size, lastTokens: size, force: true }), 1);
    assert.equal(cut([message], { keepTokens: size, lastTokens: size, prompt: 0, force: true }), 0);
    assert.equal(cut([], { hasSummary: true, force: true }), 0);
  });
});
