import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toMessages } from "../journal/transcript.ts";
import { callsOf, type Message, userText } from "../protocol/content.ts";
import type { EventBody } from "../protocol/events.ts";
import { answer, createCompactionBench, prompt, toolStep } from "../../../../test/support/compaction-bench.ts";
import { estimateMessages } from "./token-estimate.ts";

const window = 6_000;
const text = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.nat(3_000).map((length) => "word ".repeat(length / 5)),
  fc.string({ unit: "binary", maxLength: 300 }),
);

type Step = { kind: "turn" | "say" | "call" | "calls" | "cut-off" | "nudge"; text: string; tokens: number };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("turn", "say", "call", "call", "calls", "cut-off", "nudge"),
  text,
  tokens: fc.oneof(fc.constant(0), fc.nat(window)),
});

/** What a journal may hold: turns, answers, calls alone and together, calls that were cut off, nudges. */
function toEvents(steps: readonly Step[]): EventBody[] {
  return steps.flatMap(toStepEvents);
}

function toStepEvents({ kind, text, tokens }: Step, index: number): EventBody[] {
  const read = (id: string): EventBody[] =>
    toolStep(id, { name: "Read", input: { file_path: `f${index % 7}` }, result: text, tokens });
  switch (kind) {
    case "turn":
      return [prompt(text || "?")];
    case "say":
      return [answer(text, tokens)];
    case "call":
      return read(`c${index}`);
    case "calls": {
      const calls = [0, 1, 2].map(
        (call) => ({ type: "tool-call", callId: `c${index}-${call}`, name: "Read", input: {} }) as const,
      );
      const results = [2, 0, 1].flatMap((call) => read(`c${index}-${call}`).slice(1)); // in any order
      return [answer("", tokens, calls), ...results];
    }
    case "cut-off":
      return read(`c${index}`).slice(0, 2);
    case "nudge":
      return [{ type: "input.added", input: userText("go on"), origin: "continuation" }];
  }
}

/** What every dialect relies on: calls are answered at once and in order, and nothing answers a call that is not there. */
function assertValid(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (message.role === "tool") {
      assert.equal(before?.role, "assistant");
      const calls = before?.role === "assistant" ? callsOf(before).map((call) => call.callId) : [];
      assert.deepEqual(
        message.content.map((part) => part.callId),
        calls,
      );
    } else if (before?.role === "assistant") assert.equal(callsOf(before).length, 0, "a call without its result");
  }
}

describe("compaction of any history", () => {
  it("makes valid messages that fit, with the last prompt verbatim, and the journal tells the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 60 }),
        fc.constantFrom("auto", "manual", "overflow"),
        async (steps, trigger) => {
          const bench = createCompactionBench(
            Array.from({ length: 300 }, () => ({ text: "a summary of a few words" })),
            { window, readText: async (path) => `contents of ${path} `.repeat(50) },
          );
          bench.record(prompt("first"), ...toEvents(steps), prompt("the last prompt"));
          const { fit, messages } = bench.turn();
          if (trigger === "auto") await fit.makeRoom(messages);
          if (trigger === "manual") await fit.compact(messages);
          if (trigger === "overflow")
            await fit.afterOverflow(messages, { cause: new Error("too long"), again: false }).catch(() => undefined);
          const stored: EventBody[] = JSON.parse(JSON.stringify(bench.events));
          assert.equal(JSON.stringify(messages), JSON.stringify(toMessages(stored)));
          assertValid(messages);
          assert.deepEqual(messages.filter((message) => message.role === "user").at(-1), userText("the last prompt"));
          if (bench.events.some((event) => event.type === "compaction.ended" && event.result.type === "compacted"))
            assert.equal(estimateMessages(messages) < window, true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("stays bounded and equal to the journal over thousands of turns", async () => {
    const bench = createCompactionBench(
      Array.from({ length: 2_000 }, (_, index) => ({ text: `summary ${index}` })),
      { window: 4_000 },
    );
    let largest = 0;
    for (let turn = 0; turn < 3_000; turn++) {
      bench.record(prompt(`turn ${turn} ${"word ".repeat(20)}`));
      const { fit, messages } = bench.turn();
      await fit.makeRoom(messages);
      largest = Math.max(largest, messages.length);
      assertValid(messages);
      bench.record(
        ...toolStep(`c${turn}`, { name: "Bash", input: { turn }, result: "line ".repeat(turn % 60) }),
        answer(`done ${turn}`),
      );
    }
    const compactions = bench.events.filter((event) => event.type === "compaction.ended").length;
    assert.equal(compactions > 20 || bench.events.some((event) => event.type === "context.cleared"), true);
    assert.equal(largest < 400, true);
    assert.equal(JSON.stringify(bench.turn().messages), JSON.stringify(toMessages(JSON.parse(JSON.stringify(bench.events)))));
  });
});
