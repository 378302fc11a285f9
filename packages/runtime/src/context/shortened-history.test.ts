import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCompactionBench, prompt } from "../../../../test/support/compaction-bench.ts";
import { claudeBetas } from "../model/dialects/claude-parameters.ts";
import { anthropicMessages } from "../model/dialects/anthropic-messages.ts";
import { gemini } from "../model/dialects/gemini.ts";
import { createOpenAIChat } from "../model/dialects/openai-chat.ts";
import { openaiResponses } from "../model/dialects/openai-responses.ts";
import type { AssistantPart, JsonObject, Message } from "../protocol/content.ts";
import { noUsage } from "../protocol/content.ts";
import type { EventBody } from "../protocol/events.ts";

/** What each wire puts beside an answer, and refuses or misses when it does not come back as it was. */
const wires: Readonly<Record<string, { readonly model: string; readonly thought: AssistantPart; readonly call?: JsonObject }>> = {
  anthropic: {
    model: "claude-opus-5-5",
    thought: { type: "reasoning", text: "hm", providerMetadata: { "anthropic-messages": { signature: "sealed" } } },
  },
  responses: {
    model: "gpt-6.1-sol",
    thought: {
      ...{ type: "reasoning", text: "hm" },
      providerMetadata: { "openai-responses": { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" } },
    },
  },
  gemini: {
    model: "gemini-4-argon",
    thought: { type: "reasoning", text: "hm" },
    call: { gemini: { id: "g1", thoughtSignature: "sealed" } },
  },
  chat: { model: "deepseek-flash", thought: { type: "reasoning", text: "hm" } },
};

/** Thirty steps with long results, each behind a thought. */
function steps(wire: string): EventBody[] {
  const { model, thought, call = {} } = wires[wire] ?? assert.fail();
  return Array.from({ length: 30 }, (_, index): EventBody[] => {
    const callId = `call_${index}`;
    const own = Object.fromEntries(Object.entries(call).map(([name, value]) => [name, { ...(value as JsonObject), id: callId }]));
    const made: AssistantPart = {
      type: "tool-call",
      callId,
      name: "Read",
      input: { file_path: `f${index}` },
      providerMetadata: own,
    };
    const content = [{ type: "text" as const, text: `line ${index}\n`.repeat(200) }];
    return [
      {
        type: "message.ended",
        ...{ messageId: `m${index}`, durationMs: 0, requestedModel: model },
        message: {
          ...{ role: "assistant", model: { provider: wire, id: model }, finish: "tool-calls", usage: noUsage },
          content: [thought, made],
        },
      },
      { type: "tool.started", callId, name: "Read", input: made.input } as EventBody,
      {
        ...{ type: "tool.ended", callId, name: "Read", status: "ok", durationMs: 1 },
        result: { type: "tool-result", callId, name: "Read", content, isError: false },
      } as EventBody,
    ];
  }).flat();
}

/** The conversation after old results were cleared, and after its older half was summarised. */
async function shortened(wire: string): Promise<{ cleared: Message[]; summarised: Message[] }> {
  const bench = createCompactionBench([{ text: "Read some files." }], { window: 15_000 });
  bench.record(prompt("go"), ...steps(wire));
  const first = bench.turn();
  await first.fit.makeRoom(first.messages);
  assert.deepEqual(
    bench.events.map(({ type }) => type).filter((type) => /cleared|compaction/.test(type)),
    ["context.cleared"],
  );
  const cleared = structuredClone(first.messages);
  assert.equal((await first.fit.compact(first.messages))?.type, "compacted");
  return { cleared, summarised: first.messages };
}

const ask = (wire: string, messages: readonly Message[]) => ({
  model: wires[wire]?.model ?? "",
  system: "s",
  messages,
  tools: [],
});

describe("a shortened conversation on a wire whose thinking goes back", () => {
  const bodies: Readonly<Record<string, (messages: readonly Message[]) => void>> = {
    anthropic(messages) {
      const request = ask("anthropic", messages);
      const body = anthropicMessages.encode(request);
      assert.deepEqual((body["thinking"] as JsonObject)["block_binding"], { prefix_mismatch_behavior: "drop_block" });
      assert.ok(claudeBetas(request).includes("thinking-binding-controls-2026-08-01"));
      for (const turn of body["messages"] as { role: string; content: JsonObject[] }[])
        if (turn.role === "assistant")
          assert.deepEqual(
            turn.content.map(({ type }) => type),
            ["thinking", "tool_use"],
          );
    },
    responses(messages) {
      const items = openaiResponses.encode(ask("responses", messages))["input"] as JsonObject[];
      const kinds = items.map(({ type }) => type).filter((type) => type !== "message");
      assert.equal(kinds.length % 3, 0);
      for (let index = 0; index < kinds.length; index += 3)
        assert.deepEqual(kinds.slice(index, index + 3), ["reasoning", "function_call", "function_call_output"]);
    },
    gemini(messages) {
      const contents = gemini.encode(ask("gemini", messages))["contents"] as { role: string; parts: JsonObject[] }[];
      const calls = contents.flatMap(({ parts }) => parts.filter((part) => "functionCall" in part));
      const answers = contents.flatMap(({ parts }) => parts.filter((part) => "functionResponse" in part));
      assert.ok(calls.every((part) => part["thoughtSignature"] === "sealed"));
      const idsOf = (parts: JsonObject[], name: string): unknown[] => parts.map((part) => (part[name] as JsonObject)["id"]);
      assert.deepEqual(idsOf(answers, "functionResponse"), idsOf(calls, "functionCall"));
    },
    chat(messages) {
      const chat = createOpenAIChat({ recordsOf: "deepseek", sendReasoning: true });
      const list = chat.encode(ask("chat", messages))["messages"] as JsonObject[];
      for (const message of list) if (message["tool_calls"]) assert.equal(message["reasoning_content"], "hm");
    },
  };
  for (const [wire, check] of Object.entries(bodies))
    it(`${wire}: is one that it takes, after clearing and after a summary`, async () => {
      const { cleared, summarised } = await shortened(wire);
      assert.ok(summarised.length < cleared.length && summarised.some(({ role }) => role === "assistant"));
      check(cleared);
      check(summarised);
    });
});
