import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answer,
  callPart,
  encodeAll,
  encoder,
  event,
  none,
  turnEnded,
  usage,
} from "../../../../../test/support/sample-events.ts";

const all = { notices: true, compactions: true };

describe("updates of a session", () => {
  it("tells words as they come, and not again when the answer is whole", () => {
    const told = encodeAll(encoder(), [
      event({ type: "reasoning.delta", messageId: "m1", text: "Hm." }),
      event({ type: "reasoning.delta", messageId: "m1", text: "", signature: "x" }),
      event({ type: "text.delta", messageId: "m1", text: "Good " }),
      event({ type: "text.delta", messageId: "m1", text: "day" }),
      answer("m1", [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "Good day" },
      ]),
    ]);
    assert.deepEqual(told, [
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm." }, messageId: "m1" },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Good " }, messageId: "m1" },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "day" }, messageId: "m1" },
    ]);
  });

  it("tells the whole answer where there were no pieces", () => {
    const told = encoder().encode(answer("m1", [{ type: "text", text: "Good day" }]));
    assert.deepEqual(told, [
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Good day" }, messageId: "m1" },
    ]);
  });

  it("what comes after a retry is another message, and calls that will not be made have failed", () => {
    const told = encodeAll(encoder(), [
      event({ type: "text.delta", messageId: "m1", text: "Goo" }),
      event({ type: "tool-input.delta", messageId: "m1", callId: "c1", name: "Bash", json: "{" }),
      event({
        type: "retry.scheduled",
        messageId: "m1",
        attempt: 1,
        maxRetries: 2,
        delayMs: 1,
        error: { code: "provider-overloaded", message: "busy", retryable: true },
      }),
      event({ type: "text.delta", messageId: "m1", text: "Good " }),
      event({ type: "text.delta", messageId: "m1", text: "day" }),
    ]);
    assert.deepEqual(told, [
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Goo" }, messageId: "m1" },
      {
        sessionUpdate: "tool_call",
        toolCallId: "c1",
        name: "Bash",
        title: "Bash",
        kind: "execute",
        status: "pending",
        rawInput: {},
      },
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed" },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "\n\nGood " }, messageId: "m1-2" },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "day" }, messageId: "m1-2" },
    ]);
  });

  it("of a subagent only its calls are told, under ids of their own, and what it used counts", () => {
    const updates = encoder();
    const told = encodeAll(updates, [
      event({ type: "text.delta", messageId: "x", text: "inside" }, "task1"),
      answer("x", [{ type: "text", text: "inside" }, callPart("c1", "Glob", { pattern: "*.ts" })], "task1"),
      event({ type: "context.updated", usedTokens: 1, maxTokens: 2 }, "task1"),
    ]);
    assert.deepEqual(told, [
      {
        sessionUpdate: "tool_call",
        toolCallId: "task1:c1",
        name: "Glob",
        title: "Find *.ts",
        kind: "search",
        status: "pending",
        rawInput: { pattern: "*.ts" },
        _meta: { outrider: { taskId: "task1" } },
      },
    ]);
    assert.deepEqual(updates.takeUsage(), usage);
    assert.equal(updates.takeUsage().inputTokens, 0);
  });

  it("says no cost when one price is not known", () => {
    const updates = encoder(none, () => null);
    const told = encodeAll(updates, [
      event({ type: "context.updated", usedTokens: 1, maxTokens: 2 }),
      answer("m1", [{ type: "text", text: "hi" }]),
    ]);
    assert.deepEqual(told.at(-1), { sessionUpdate: "usage_update", used: 1, size: 2 });
  });

  it("tells notices and compactions only to clients that show them", () => {
    const happened = [
      event({ type: "warning.raised", message: "careful" }),
      event({
        type: "compaction.started",
        compactionId: "k",
        trigger: "auto",
        usedTokens: 1,
        maxTokens: 2,
        replaced: 1,
        chunkTokens: 1,
        summaryTokens: 1,
      }),
      event({
        type: "compaction.ended",
        compactionId: "k",
        trigger: "auto",
        preTokens: 1,
        durationMs: 1,
        result: { type: "cancelled" },
      }),
    ];
    assert.deepEqual(encodeAll(encoder(none), happened), []);
    assert.deepEqual(encodeAll(encoder(all), happened), [
      { sessionUpdate: "notice", severity: "warning", title: "careful" },
      { sessionUpdate: "compaction_update", compactionId: "k", status: "in_progress" },
      { sessionUpdate: "compaction_update", compactionId: "k", status: "cancelled" },
    ]);
  });

  it("shows a stored session with its prompts, and once what it has cost", () => {
    const updates = encoder();
    const stored = [
      event({
        type: "turn.started",
        input: {
          role: "user",
          content: [
            { type: "text", text: "hello" },
            { type: "image", mediaType: "image/png", data: "AA==" },
          ],
        },
      }),
      event({ type: "context.updated", usedTokens: 5, maxTokens: 10 }),
      answer("m1", [{ type: "text", text: "hi" }]),
      answer("m2", [{ type: "text", text: "again" }]),
      turnEnded,
    ];
    assert.deepEqual(
      stored.flatMap((one) => updates.encodeStored(one)),
      [
        { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hello" }, messageId: "t" },
        { sessionUpdate: "user_message_chunk", content: { type: "image", data: "AA==", mimeType: "image/png" }, messageId: "t" },
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" }, messageId: "m1" },
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "again" }, messageId: "m2" },
      ],
    );
    assert.deepEqual(updates.endStored(), [
      { sessionUpdate: "usage_update", used: 5, size: 10, cost: { amount: 0.5, currency: "USD" } },
    ]);
    assert.equal(updates.takeUsage().inputTokens, 0);
  });
});
