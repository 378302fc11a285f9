import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../../protocol/errors.ts";
import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import { CheckpointHistory } from "./message-history.ts";
import type { AgentStreamResult } from "./runnable-agent.ts";
import { runHeadless } from "./run-headless.ts";

type Move = { readonly finish?: string; readonly text?: string; readonly throws?: Error };

const moves: Move[] = [
  ...["stop", "length", "tool-calls", "tool_use", "content-filter", "other"].map((finish) => ({ finish, text: "words" })),
  { finish: "tool-calls" },
  { finish: "stop" },
  { throws: new RuntimeError("context-overflow", "prompt is too long") },
  { throws: new Error("maximum context length exceeded") },
  { throws: new Error("broken") },
];

describe("a run of somebody else's agent", () => {
  it("ends once within its ceiling, whatever the agent answers", async () => {
    const maxRequests = 25;
    const options = fc.record({ reminds: fc.boolean(), goesOn: fc.boolean(), isFull: fc.boolean(), gains: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...moves), { minLength: 1, maxLength: 6 }), options, async (list, how) => {
        let calls = 0;
        let compactions = 0;
        const agent = {
          async stream(): Promise<AgentStreamResult> {
            if (calls >= 1_000) throw new Error("called for ever");
            const move = list[calls++ % list.length] ?? {};
            if (move.throws) throw move.throws;
            const parts = move.text === undefined ? [] : [{ type: "text-delta", text: move.text }];
            return {
              fullStream: (async function* () {
                yield* parts;
              })(),
              finishReason: Promise.resolve(move.finish ?? "stop"),
              response: Promise.resolve({ messages: [{ role: "assistant", content: move.text ?? "" }] }),
            };
          },
        };
        const history = Object.assign(new CheckpointHistory(), {
          needsCompaction: () => how.isFull,
          compact: async () => {
            compactions++;
            return { success: true, tokensBefore: 100, tokensAfter: how.gains ? 50 : 100 };
          },
        });
        const events: TrajectoryEvent[] = [];
        const outcome = await runHeadless({
          agent,
          sessionId: "s",
          modelId: "m",
          messageHistory: history,
          initialUserMessage: { content: "go" },
          maxRequests,
          maxTodoReminders: 1_000,
          emitEvent: (event) => events.push(event),
          ...(how.reminds && { onTodoReminder: async () => ({ hasReminder: true, message: "go on" }) }),
          ...(how.goesOn && { shouldContinue: () => true }),
        });
        assert.equal(calls <= maxRequests, true, `${calls} calls`);
        assert.equal(compactions <= 2 * (maxRequests + 1), true, `${compactions} compactions`);
        if (how.goesOn && calls === maxRequests) assert.notEqual(outcome.type, "completed");
        if (outcome.type === "stopped")
          assert.deepEqual([outcome.limit, JSON.stringify(events.at(-1)).includes("MAX_REQUESTS")], ["max-requests", true]);
      }),
      { numRuns: 300 },
    );
  });

  it("has a ceiling when none is given", async () => {
    let calls = 0;
    const agent = {
      async stream(): Promise<AgentStreamResult> {
        calls++;
        return {
          fullStream: (async function* () {
            yield { type: "text-delta", text: "again" };
          })(),
          finishReason: Promise.resolve("tool-calls"),
          response: Promise.resolve({ messages: [] }),
        };
      },
    };
    const messageHistory = new CheckpointHistory();
    const config = { agent, sessionId: "s", modelId: "m", messageHistory, emitEvent: () => {} };
    const outcome = await runHeadless({ ...config, initialUserMessage: { content: "go" } });
    assert.deepEqual([outcome.type === "stopped" && outcome.limit, calls], ["max-requests", 2_000]);
  });
});
