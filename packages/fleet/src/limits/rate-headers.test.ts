import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRateHeaders } from "./rate-headers.ts";

const now = Date.parse("2026-03-01T12:00:00Z");

describe("headers about rates", () => {
  it("are read as Anthropic writes them", () => {
    const headers = {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:01Z",
      "anthropic-ratelimit-tokens-limit": "80000",
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "2026-03-01T12:00:30Z",
    };
    assert.deepEqual(parseRateHeaders(headers, now), {
      requests: { limit: 50, remaining: 49, resetMs: 1_000 },
      tokens: { limit: 80_000, remaining: 0, resetMs: 30_000 },
    });
  });

  it("are read as OpenAI and others write them", () => {
    const headers = {
      "x-ratelimit-limit-requests": "5000",
      "x-ratelimit-remaining-requests": "4999",
      "x-ratelimit-reset-requests": "12ms",
      "x-ratelimit-limit-tokens": "160000",
      "x-ratelimit-remaining-tokens": "100",
      "x-ratelimit-reset-tokens": "1m30.5s",
    };
    assert.deepEqual(parseRateHeaders(headers, now), {
      requests: { limit: 5_000, remaining: 4_999, resetMs: 12 },
      tokens: { limit: 160_000, remaining: 100, resetMs: 90_500 },
    });
    const plain = { "x-ratelimit-limit": "20", "x-ratelimit-remaining": "3", "x-ratelimit-reset": String(now / 1_000 + 7) };
    assert.deepEqual(parseRateHeaders(plain, now), { requests: { limit: 20, remaining: 3, resetMs: 7_000 }, tokens: undefined });
    const seconds = { "ratelimit-limit": "20", "ratelimit-remaining": "3", "ratelimit-reset": "4" };
    assert.deepEqual(parseRateHeaders(seconds, now)?.requests, { limit: 20, remaining: 3, resetMs: 4_000 });
  });

  it("are left out where they are not understood", () => {
    for (const reset of ["soon", "", "-1", "5 parsecs", "2026-99-99T00:00:00Z"])
      assert.equal(
        parseRateHeaders({ "ratelimit-limit": "20", "ratelimit-remaining": "3", "ratelimit-reset": reset }, now),
        undefined,
        reset,
      );
    assert.equal(
      parseRateHeaders({ "ratelimit-limit": "0", "ratelimit-remaining": "0", "ratelimit-reset": "1" }, now),
      undefined,
    );
    assert.equal(parseRateHeaders({ "content-type": "text/plain" }, now), undefined);
  });
});
