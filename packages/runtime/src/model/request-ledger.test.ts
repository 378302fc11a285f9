import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { createBudget } from "./budget.ts";
import { withFallback } from "./fallback.ts";
import { createRedactor } from "../util/redact.ts";
import type { MaskedRequest, ModelEvent, Provider } from "./model.ts";
import { defaultMaxRequests, RequestLedger } from "./request-ledger.ts";
import { createScriptedProvider } from "./scripted.ts";

const request: MaskedRequest = { model: "m", system: createRedactor().text(""), messages: [], tools: [] };

async function ask(provider: Provider, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(request, { signal })) events.push(event);
  return events;
}

function ready(...texts: string[]): ReturnType<typeof createScriptedProvider> {
  return createScriptedProvider(texts.map((text) => ({ text, usage: { inputTokens: 1 } })));
}

describe("the ledger of requests", () => {
  it("lets no request be made above the ceiling, and counts each prompt anew", async () => {
    const provider = ready("a", "b", "c", "d");
    const ledger = new RequestLedger({ maxRequests: 2 });
    const counted = ledger.count(provider);
    await ask(counted);
    assert.equal(ledger.reached(), undefined);
    await ask(counted);
    assert.equal(ledger.reached(), "max-requests");
    await assert.rejects(ask(counted), { code: "limit-reached" });
    assert.equal(provider.requests.length, 2);
    ledger.begin();
    await ask(counted);
    assert.deepEqual([provider.requests.length, ledger.requests], [3, 1]);
  });

  it("books every answer, under the name of the model that was asked in the end", async () => {
    const booked: string[] = [];
    const budget = createBudget(2.5, (_, requested) => booked.push(requested));
    const broken: Provider = { ...ready(), stream: () => failing() };
    const ledger = new RequestLedger({ maxRequests: 10, budget });
    await ask(ledger.count(withFallback(broken, { model: "other", provider: ready("a") })));
    assert.deepEqual([booked, ledger.requests, ledger.reached()], [["other"], 2, undefined]);
    await ask(ledger.count(ready("b")));
    assert.deepEqual([booked, ledger.reached()], [["other", "m"], "max-budget"]);
    await assert.rejects(ask(ledger.count(ready("c"))), { code: "limit-reached" });
    ledger.begin();
    assert.equal(ledger.reached(), "max-budget"); // a budget is the session's
  });

  it("counts tries again, and ends them at the ceiling", async () => {
    let tries = 0;
    let closed = false;
    const stubborn: Provider = {
      ...ready(),
      async *stream() {
        const error = new RuntimeError("provider-overloaded", "busy").toJSON();
        try {
          for (; ; tries++) yield { type: "retry.scheduled", attempt: tries, maxRetries: 1e9, delayMs: 0, error };
        } finally {
          closed = true;
        }
      },
    };
    const counted = new RequestLedger({ maxRequests: 7 }).count(stubborn);
    await assert.rejects(ask(counted), { code: "limit-reached" });
    assert.deepEqual([tries, closed], [6, true]);
  });

  it("asks nothing after an abort", async () => {
    const provider = ready("a");
    const aborted = AbortSignal.abort(new Error("stop"));
    await assert.rejects(ask(new RequestLedger({ maxRequests: 1 }).count(provider), aborted), { message: "stop" });
    assert.equal(provider.requests.length, 0);
  });

  it("closes the provider's stream when its reader goes", async () => {
    let closed = false;
    const talkative: Provider = {
      ...ready(),
      async *stream() {
        try {
          while (true) yield { type: "text.delta", text: "x" };
        } finally {
          closed = true;
        }
      },
    };
    const { signal } = new AbortController();
    for await (const _ of new RequestLedger({ maxRequests: 1 }).count(talkative).stream(request, { signal })) break;
    assert.equal(closed, true);
  });

  it("takes a provider whose facts are getters", () => {
    class Own {
      get name() {
        return "own";
      }
      get model() {
        return "mine";
      }
      get contextWindow() {
        return 5;
      }
      get nativeSchema() {
        return true;
      }
      stream = (): AsyncIterable<ModelEvent> => failing();
    }
    const { name, model, contextWindow, nativeSchema } = new RequestLedger({ maxRequests: 1 }).count(new Own());
    assert.deepEqual([name, model, contextWindow, nativeSchema], ["own", "mine", 5, true]);
  });

  it("has a ceiling by default, which never undercuts the limit of turns", () => {
    assert.deepEqual(
      [undefined, 1, 10, 50, 4_000].map((turns) => [turns, defaultMaxRequests(turns)]),
      [
        [undefined, 2_000],
        [1, 200],
        [10, 1_100],
        [50, 2_000],
        [4_000, 8_000],
      ],
    );
    for (const maxRequests of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => new RequestLedger({ maxRequests }), { code: "config" });
  });
});

function failing(): AsyncIterable<ModelEvent> {
  const fail = { code: "provider-unavailable", message: "gone" } as const;
  return createScriptedProvider([{ fail }]).stream(request, { signal: new AbortController().signal });
}
