import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBudget, type PriceCall } from "../../model/budget.ts";
import type { MaskedRequest, ModelEvent } from "../../model/model.ts";
import { type CountedProvider, RequestLedger } from "../../model/request-ledger.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { userText } from "../../protocol/content.ts";
import { SharedBudget } from "./shared-budget.ts";

const request = { model: "m", system: "", tools: [], messages: [userText("x".repeat(350))], maxOutputTokens: 100 };
const masked = request as unknown as MaskedRequest; // it holds nothing to hide
const { signal } = new AbortController();

function provider(): CountedProvider {
  const ledger = new RequestLedger({ maxRequests: 100, budget: undefined });
  return ledger.count(createScriptedProvider(Array.from({ length: 9 }, () => ({ text: "ok" }))));
}

/** Goes one step: the call is admitted when its first event is here. */
async function begin(stream: AsyncIterable<ModelEvent>): Promise<AsyncIterator<ModelEvent>> {
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  return events;
}

async function settled(): Promise<void> {
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
}

describe("one budget for calls at the same time", () => {
  it("reckons a call at its dearest: everything written into a cache, and the longest answer", async () => {
    const asked: Parameters<PriceCall>[] = [];
    const budget = createBudget(1, (...call) => {
      asked.push(call);
      return 0;
    });
    const { provider: shared } = new SharedBudget(budget).join(provider());
    await begin(shared.stream({ ...masked, thinkingTokens: 20 }, { signal }));
    const { maxOutputTokens: _, ...open } = masked;
    await begin(shared.stream(open, { signal }));
    const usage = { inputTokens: 104, cacheReadTokens: 0, cacheWriteTokens: 104, reasoningTokens: 0 };
    const model = { provider: shared.name, id: "m" };
    assert.deepEqual(asked, [
      [{ model, usage: { ...usage, outputTokens: 120 } }, "m"],
      [{ model, usage: { ...usage, outputTokens: 32_000 } }, "m"],
    ]);
  });

  it("lets calls begin side by side as long as it would pay for all, to the cent, and one in any case", async () => {
    for (const [limit, begun] of [
      [2, 2],
      [1.99, 1],
      [0.5, 1],
    ] as const) {
      const { provider: shared } = new SharedBudget(createBudget(limit, () => 1)).join(provider());
      let count = 0;
      for (let call = 0; call < 3; call++)
        void begin(shared.stream(masked, { signal })).then(
          () => count++,
          () => {},
        );
      await settled();
      assert.equal(count, begun, `${limit}`);
    }
  });

  it("lets the next one begin when one has ended, was left, or stopped half-way", async () => {
    const budget = new SharedBudget(createBudget(1, () => 1));
    const [first, second] = [budget.join(provider()), budget.join(provider())];
    const running = await begin(first.provider.stream(masked, { signal }));
    const waiting = begin(second.provider.stream(masked, { signal }));
    await running.return?.();
    await waiting;
    const third = begin(first.provider.stream(masked, { signal }));
    await settled();
    second.leave();
    await third;
  });

  it("begins nothing when it is spent, or when nobody waits any more", async () => {
    const spent = createBudget(0, () => 1);
    spent.spend({ ...(await answer()) }, "m");
    const shared = new SharedBudget(spent).join(provider()).provider;
    await assert.rejects(begin(shared.stream(masked, { signal })), { code: "limit-reached" });
    const open = new SharedBudget(createBudget(9, () => null)).join(provider()).provider;
    await assert.rejects(begin(open.stream(masked, { signal: AbortSignal.abort(new Error("gone")) })), /gone/);
  });
});

async function answer() {
  for await (const event of provider().stream(masked, { signal })) if (event.type === "finished") return event.message;
  return assert.fail();
}
