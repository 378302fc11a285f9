import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { userText } from "../protocol/content.ts";
import { startModelServer } from "../testing/model-server.ts";
import { withFallback } from "./fallback.ts";
import type { ModelEvent } from "./model.ts";
import { createProvider } from "./providers/create-provider.ts";
import { requireProvider } from "./providers/definitions.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("another model", () => {
  const cases: [what: string, statuses: number[], asked: string[]][] = [
    ["after three overloads", [529, 529, 529], ["first", "first", "first", "second"]],
    [
      "after all tries where it is out of reach",
      [500, 500, 500, 500, 500],
      ["first", "first", "first", "first", "first", "second"],
    ],
    ["not where the first answers in time", [529, 529], ["first", "first", "first"]],
    ["at once where the first is not there", [404], ["first", "second"]],
    ["not where the request was wrong", [400], ["first"]],
  ];
  for (const [what, statuses, expected] of cases) {
    it(`is asked ${what}`, async () => {
      const { ask, asked } = await setUp(statuses);
      if (statuses[0] === 400) await assert.rejects(ask(), { code: "provider-bad-request" });
      else {
        const events = await ask();
        assert.equal(events.at(-1)?.type, "finished");
        assert.equal(events.filter(({ type }) => type === "fallback.used").length, expected.includes("second") ? 1 : 0);
      }
      assert.deepEqual(asked(), expected);
    });
  }
});

async function setUp(statuses: readonly number[]): Promise<{ ask: () => Promise<ModelEvent[]>; asked: () => unknown[] }> {
  const server = await startModelServer({
    replies: (_, index) => (statuses[index] === undefined ? { text: "here" } : { status: statuses[index] }),
  });
  const retry = { maxRetries: 4, baseDelayMs: 1, maxDelayMs: 2 };
  const settings = { apiKey: "k", baseURL: server.url, model: "first", env: {}, retry };
  const provider = await createProvider(requireProvider("anthropic"), settings);
  closers.push(() => provider.close(), server.close);
  const request = { model: "first", system: "", messages: [userText("hi")], tools: [] };
  return {
    async ask() {
      const events: ModelEvent[] = [];
      const answer = withFallback(provider, { model: "second" }).stream(request, { signal: new AbortController().signal });
      for await (const event of answer) events.push(event);
      return events;
    },
    asked: () => server.requests.map(({ body }) => (body as { model: string }).model),
  };
}
