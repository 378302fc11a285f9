import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { gemini, geminiHttpError } from "./gemini.ts";

const hint = "Check GEMINI_API_KEY, and the base URL if you use a gateway";

describe("geminiHttpError", () => {
  const info = (reason: string) => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" });
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "12s" };
  const quota = (quotaId: string) => ({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] });
  const rows: [what: string, status: number, error: JsonObject, expected: object][] = [
    [
      "a refused key",
      400,
      { status: "INVALID_ARGUMENT", details: [info("API_KEY_INVALID")] },
      { code: "provider-auth", retryable: false, hint },
    ],
    ["no key", 401, { status: "UNAUTHENTICATED" }, { code: "provider-auth", retryable: false, hint }],
    ["a key without rights", 403, { status: "PERMISSION_DENIED" }, { code: "provider-auth", retryable: false, hint }],
    ["an unknown model", 404, { status: "NOT_FOUND" }, { code: "provider-bad-request", retryable: false }],
    ["a bad request", 400, { status: "INVALID_ARGUMENT" }, { code: "provider-bad-request", retryable: false }],
    [
      "a conversation that is too long",
      400,
      { status: "INVALID_ARGUMENT", message: "The input token count is 9 but model only supports up to 8" },
      { code: "context-overflow", retryable: false },
    ],
    [
      "a quota per minute",
      429,
      { status: "RESOURCE_EXHAUSTED", details: [quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), retry] },
      { code: "provider-rate-limit", retryable: true, retryAfterMs: 12_000 },
    ],
    [
      "a delay with a fraction",
      429,
      { status: "RESOURCE_EXHAUSTED", details: [{ ...retry, retryDelay: "34.0748242s" }] },
      { code: "provider-rate-limit", retryable: true, retryAfterMs: 34_075 },
    ],
    ["no delay", 429, { status: "RESOURCE_EXHAUSTED" }, { code: "provider-rate-limit", retryable: true, retryAfterMs: 3_000 }],
    [
      "a quota per day",
      429,
      { status: "RESOURCE_EXHAUSTED", details: [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retry] },
      { code: "provider-rate-limit", retryable: false, hint: "The quota of the day is used up: use another model or key" },
    ],
    [
      "an overloaded model",
      503,
      { status: "UNAVAILABLE" },
      { code: "provider-overloaded", retryable: true, retryAfterMs: 3_000 },
    ],
    ["a deadline", 504, { status: "DEADLINE_EXCEEDED" }, { code: "provider-timeout", retryable: true, retryAfterMs: 3_000 }],
    ["an internal error", 500, { status: "INTERNAL" }, { code: "provider-unavailable", retryable: true, retryAfterMs: 3_000 }],
    ["an error of a gateway", 502, {}, { code: "provider-unavailable", retryable: true, retryAfterMs: 3_000 }],
  ];
  for (const [what, status, error, expected] of rows) {
    it(`understands ${what}, alone or in a list`, () => {
      const message = String(error["message"] ?? "words with AIzaSecret");
      const body = { error: { code: status, ...error, message } };
      for (const form of [body, [body]]) {
        const text = JSON.stringify(form);
        const thrown = geminiHttpError({ status, headers: { "retry-after": "3" }, body: text, now: 0, secrets: ["AIzaSecret"] });
        const words = message.replace("AIzaSecret", "[redacted]");
        assert.deepEqual(thrown.toJSON(), {
          message: `Gemini answered HTTP ${status}: ${words}`,
          httpStatus: status,
          ...expected,
        });
      }
    });
  }

  it("falls back to the status for a body that is no error of this wire", () => {
    const { code, message } = geminiHttpError({ status: 503, headers: {}, body: "<html>busy</html>", now: 0 });
    assert.deepEqual([code, message], ["provider-unavailable", "Gemini answered HTTP 503: <html>busy</html>"]);
  });
});

describe("an error inside the stream", () => {
  const errors: [error: unknown, code: string, retryable: boolean, message: string, extra?: object][] = [
    [
      { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" },
      "provider-overloaded",
      true,
      "UNAVAILABLE: The model is overloaded.",
    ],
    [{ code: 14, message: "gone", status: "UNAVAILABLE" }, "provider-overloaded", true, "UNAVAILABLE: gone"],
    [{ code: 500, message: "oops", status: "INTERNAL" }, "provider-unavailable", true, "INTERNAL: oops"],
    [{ code: 504, message: "late", status: "DEADLINE_EXCEEDED" }, "provider-timeout", true, "DEADLINE_EXCEEDED: late"],
    [
      { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "12s" }] },
      "provider-rate-limit",
      true,
      "RESOURCE_EXHAUSTED: slow",
      { retryAfterMs: 12_000 },
    ],
    [{ code: 401, message: "who", status: "UNAUTHENTICATED" }, "provider-auth", false, "UNAUTHENTICATED: who"],
    [{ code: 400, message: "bad", status: "INVALID_ARGUMENT" }, "provider-bad-request", false, "INVALID_ARGUMENT: bad"],
    [
      {
        code: 400,
        message: "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        status: "INVALID_ARGUMENT",
      },
      "context-overflow",
      false,
      "INVALID_ARGUMENT: The input token count (9) exceeds the maximum number of tokens allowed (8).",
    ],
    [
      { code: 499, message: "The operation was cancelled." },
      "provider-bad-request",
      false,
      "error 499: The operation was cancelled.",
    ],
    [{}, "provider-unavailable", true, "error without a name"],
    ["proxy gave up", "provider-unavailable", true, "error without a name: proxy gave up"],
  ];
  for (const [error, code, retryable, message, extra] of errors) {
    it(`throws ${code} for ${JSON.stringify(error)} inside the stream`, () => {
      const decoder = gemini.decoder({ model: "m", system: "", messages: [], tools: [] }, "google");
      const thrown = thrownBy(() => decoder.push({ event: undefined, data: JSON.stringify({ error }) }));
      const { hint, ...rest } = thrown.toJSON();
      assert.deepEqual(rest, { code, retryable, message: `Gemini broke off its answer with ${message}`, ...extra });
      assert.equal(hint?.includes("GEMINI_API_KEY") ?? false, code === "provider-auth");
    });
  }
});

function thrownBy(run: () => unknown): RuntimeError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof RuntimeError) return thrown;
    throw thrown;
  }
  throw new Error("Nothing was thrown");
}
