import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage, type Usage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { type Catalog, withOverride } from "./catalog.ts";
import { addCall, emptyLedger, type Ledger, type PricedCall, toPricedCall } from "./ledger.ts";
import { readTable } from "./model-table.ts";

describe("a ledger", () => {
  it("is the sum of its calls in any order", () => {
    const random = seeded(7);
    for (let round = 0; round < 200; round++) {
      const calls = Array.from({ length: Math.floor(random() * 40) }, () => randomCall(random, round % 2 === 0));
      const shuffled = calls.map((call) => ({ call, place: random() })).sort((a, b) => a.place - b.place);
      const ledger = fold(calls);
      assert.deepEqual(fold(shuffled.map(({ call }) => call)), ledger);

      const picos = calls.reduce((sum, call) => sum + BigInt(Math.round((call.costUsd ?? 0) * 1e12)), 0n);
      const known = Number(picos) / 1e12;
      const total = { calls: ledger.total.calls, costUsd: ledger.total.costUsd, knownUsd: ledger.total.knownUsd };
      const complete = calls.every((call) => call.costUsd !== null);
      assert.deepEqual(total, { calls: calls.length, costUsd: complete ? known : null, knownUsd: known });
      assert.deepEqual(ledger.total.usage, sumOfUsage(calls));
      assert.equal(
        sumOf(ledger, (line) => line.calls),
        calls.length,
      );
      assert.equal(
        sumOf(ledger, (line) => line.usage.inputTokens),
        ledger.total.usage.inputTokens,
      );
    }
  });

  it("keeps a line per served and requested model, and knows no total once a price is missing", () => {
    const usage = { ...noUsage, inputTokens: 10, outputTokens: 2 };
    const double = { ...noUsage, inputTokens: 20, outputTokens: 4 };
    const priced = { served: { provider: "azure", id: "gpt-4o" }, requested: "my-deployment", usage, costUsd: 0.1 };
    const unpriced = { served: { provider: "azure", id: "gpt-4o" }, requested: "another", usage, costUsd: null };
    assert.deepEqual(fold([priced, unpriced, { ...priced, costUsd: 0.2 }]), {
      total: { calls: 3, usage: { ...noUsage, inputTokens: 30, outputTokens: 6 }, costUsd: null, knownUsd: 0.3 },
      models: [
        { served: unpriced.served, requested: "another", calls: 1, usage, costUsd: null, knownUsd: 0 },
        { served: priced.served, requested: "my-deployment", calls: 2, usage: double, costUsd: 0.3, knownUsd: 0.3 },
      ],
    });
  });

  it("does not change the ledger it adds to", () => {
    const call = randomCall(seeded(1), true);
    const before = fold([call]);
    const copy = structuredClone(before);
    addCall(before, call);
    assert.deepEqual(before, copy);
    assert.deepEqual(emptyLedger.models, []);
  });
});

describe("the price of an answer", () => {
  const catalog: Catalog = {
    asOf: "2026-01-01",
    table: readTable(
      '@here\n["served",0,0,[1,0]]\n["requested",0,0,[2,0]]\n["timed",0,0,[{"rates":[3,0]},{"rates":[4,0],"from":"2026-05-01"}]]',
    ),
    overrides: [],
  };
  const costOf = (served: string, requested: string, from: Catalog = catalog) =>
    toPricedCall(from, answer(served, requested)).costUsd;

  it("is the served model's, else the requested one's, else unknown", () => {
    assert.deepEqual([costOf("served", "requested"), costOf("new-name", "requested"), costOf("new-name", "alias")], [1, 2, null]);
  });

  it("is the user's for either of the two names before it is the table's", () => {
    const own = { models: [{ provider: "here", model: "requested", price: { input: 0, output: 0 } }] };
    assert.equal(costOf("served", "requested", withOverride(catalog, own)), 0);
    const window = { models: [{ provider: "here", model: "requested", contextWindow: 5 }] };
    assert.equal(costOf("served", "requested", withOverride(catalog, window)), 1);
  });

  it("is the one in force when the answer came", () => {
    assert.equal(costOf("timed", "timed"), 4);
  });

  it("is recorded with both names and the usage", () => {
    assert.deepEqual(toPricedCall(catalog, answer("served", "requested")), {
      served: { provider: "here", id: "served" },
      requested: "requested",
      usage: { ...noUsage, inputTokens: 1_000_000 },
      costUsd: 1,
    });
  });
});

function fold(calls: readonly PricedCall[]): Ledger {
  return calls.reduce(addCall, emptyLedger);
}

function sumOf(ledger: Ledger, pick: (line: Ledger["models"][number]) => number): number {
  return ledger.models.reduce((sum, line) => sum + pick(line), 0);
}

function sumOfUsage(calls: readonly PricedCall[]): Usage {
  const sum = (name: keyof Usage) => calls.reduce((total, call) => total + call.usage[name], 0);
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cacheReadTokens: sum("cacheReadTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
    reasoningTokens: sum("reasoningTokens"),
  };
}

function randomCall(random: () => number, priced: boolean): PricedCall {
  const upTo = (limit: number) => Math.floor(random() * limit);
  const id = `model-${upTo(4)}`;
  return {
    served: { provider: `provider-${upTo(2)}`, id },
    requested: random() < 0.5 ? id : "alias",
    usage: {
      inputTokens: upTo(1e6),
      outputTokens: upTo(1e5),
      cacheReadTokens: upTo(1e5),
      cacheWriteTokens: upTo(1e5),
      reasoningTokens: upTo(1e4),
    },
    costUsd: priced || random() < 0.9 ? upTo(1e13) / 1e12 : null,
  };
}

function answer(served: string, requestedModel: string): AgentEvent<"message.ended"> {
  return {
    type: "message.ended",
    seq: 1,
    at: "2026-06-01T00:00:00.000Z",
    sessionId: "s",
    messageId: "m",
    durationMs: 1,
    requestedModel,
    message: {
      role: "assistant",
      content: [],
      model: { provider: "here", id: served },
      finish: "stop",
      usage: { ...noUsage, inputTokens: 1_000_000 },
    },
  };
}

/** The same numbers in every run, so that a failure can be seen again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
