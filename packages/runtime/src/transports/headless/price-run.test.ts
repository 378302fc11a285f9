import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { RunLedger } from "./price-run.ts";

function call(id: string, outputTokens: number): AgentEvent<"message.ended"> {
  const message = {
    role: "assistant" as const,
    content: [],
    model: { provider: "anthropic", id },
    finish: "stop" as const,
    usage: { ...noUsage, outputTokens },
  };
  const envelope = { seq: 1, at: "2026-01-01T00:00:00.000Z", sessionId: "s" };
  return { ...envelope, type: "message.ended", messageId: "m", message, durationMs: 1, requestedModel: id };
}

describe("the ledger of a run", () => {
  it("tells all calls so far and the new ones apart, and prices each once", async () => {
    const ledger = new RunLedger(undefined);
    const first = await ledger.add([call("claude-sonnet-4-5", 1_000_000)]);
    const second = await ledger.add([call("claude-sonnet-4-5", 2_000_000), call("nobody-knows", 1)]);
    const third = await ledger.add([]);
    const tokens = (run: typeof first.all): unknown => run.models.map(({ served, usage }) => [served.id, usage.outputTokens]);
    assert.deepEqual(
      [first, second, third].map(({ all, fresh }) => [tokens(all), tokens(fresh)]),
      [
        [[["claude-sonnet-4-5", 1_000_000]], [["claude-sonnet-4-5", 1_000_000]]],
        [
          [
            ["claude-sonnet-4-5", 3_000_000],
            ["nobody-knows", 1],
          ],
          [
            ["claude-sonnet-4-5", 2_000_000],
            ["nobody-knows", 1],
          ],
        ],
        [
          [
            ["claude-sonnet-4-5", 3_000_000],
            ["nobody-knows", 1],
          ],
          [],
        ],
      ],
    );
    assert.deepEqual(
      [first.all.total.costUsd, second.all.total.costUsd, second.fresh.total.knownUsd, third.fresh.total.costUsd],
      [15, null, 30, 0],
    );
    assert.equal(first.all.limits.get("claude-sonnet-4-5")?.priceFrom, "table");
  });

  it("grows with a session, not with its square", { timeout: 20_000 }, async () => {
    const ledger = new RunLedger(undefined);
    for (let turn = 0; turn < 20_000; turn++) await ledger.add([call("claude-sonnet-4-5", 1)]);
    assert.equal((await ledger.add([])).all.total.calls, 20_000);
  });
});
