import assert from "node:assert/strict";
import { it } from "node:test";
import type { ModelEvent, ModelRequest, Provider } from "@outrider/runtime";
import type { Governor } from "./governor.ts";
import { governedProvider } from "./governed-provider.ts";

it("has on record what an answer cost before anybody has the answer, and tells each end once", async () => {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const message = { role: "assistant", content: [], finish: "stop", usage, model: { provider: "p", id: "m" } };
  const provider = {
    name: "p",
    model: "m",
    async *stream() {
      yield { type: "finished", message } as unknown as ModelEvent; // of a message only usage and model are looked at
    },
  } as unknown as Provider;
  const order: string[] = [];
  const governor: Governor = {
    admit: async () => void order.push("admitted"),
    async ended({ costUsd }) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`told ${costUsd}`);
    },
    throttled: () => {},
  };
  const governed = governedProvider(provider, { governor, priceOf: () => 3, catalogOverride: undefined, needsPrice: false });
  const request = { system: "", messages: [], tools: [], model: "m" } as unknown as ModelRequest;
  for await (const event of governed.stream(request, { signal: new AbortController().signal })) order.push(event.type);
  assert.deepEqual(order, ["admitted", "told 3", "finished"]);
});
