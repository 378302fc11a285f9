import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openAIHttpError } from "./openai-errors.ts";

const toError = openAIHttpError("Acme", "Check ACME_API_KEY");

describe("openAIHttpError", () => {
  const cases: [what: string, status: number, body: unknown, code: string, retryable: boolean][] = [
    ["a refused key", 401, { error: { message: "m", code: "invalid_api_key" } }, "provider-auth", false],
    ["a forbidden model", 403, { error: { message: "m" } }, "provider-auth", false],
    ["an unpaid bill", 402, { error: { message: "Insufficient credits", code: 402 } }, "provider-auth", false],
    [
      "credits that are used up, in words only",
      429,
      { code: "Some resource has been exhausted", error: "Your team has used all available credits" },
      "provider-auth",
      false,
    ],
    ["no credit left", 429, { error: { message: "m", code: "credit_balance_exhausted" } }, "provider-auth", false],
    ["an exhausted quota", 429, { error: { message: "m", code: "insufficient_quota" } }, "provider-auth", false],
    ["an empty account, in words", 400, { error: { message: "Insufficient account balance" } }, "provider-auth", false],
    ["too many requests", 429, { error: { message: "m", code: "rate_limit_exceeded" } }, "provider-rate-limit", true],
    [
      "one request above the limit per minute",
      429,
      { error: { message: "Request too large for gpt-x on tokens per min", code: "rate_limit_exceeded" } },
      "context-overflow",
      false,
    ],
    ["a context that is too long", 400, { error: { message: "m", code: "context_length_exceeded" } }, "context-overflow", false],
    ["llama.cpp's code for it", 400, { error: { message: "m", type: "exceed_context_size_error" } }, "context-overflow", false],
    [
      "vLLM's words for it",
      400,
      { object: "error", message: "This model's maximum context length is 8192 tokens. However, you requested 9000", code: 400 },
      "context-overflow",
      false,
    ],
    ["xAI's words for it", 400, { error: "This model's maximum prompt length is 131072" }, "context-overflow", false],
    [
      "llama.cpp's words for it, as a server error",
      500,
      { error: { code: 500, message: "the request exceeds the available context size" } },
      "context-overflow",
      false,
    ],
    [
      "Gemini's words for it, in a list",
      400,
      [{ error: { code: 400, message: "The input token count (9) exceeds the maximum number of tokens allowed (8)." } }],
      "context-overflow",
      false,
    ],
    ["Qwen's words for it", 400, { message: "Range of input length should be [1, 98304]" }, "context-overflow", false],
    ["z.ai's number for it", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }, "context-overflow", false],
    ["another bad request", 400, { error: { message: "Unknown parameter: 'x'" } }, "provider-bad-request", false],
    ["an unknown model", 404, { error: { message: "m", code: "model_not_found" } }, "provider-bad-request", false],
    ["a server error", 500, { error: { message: "m" } }, "provider-unavailable", true],
    ["a busy server", 503, "<html>busy</html>", "provider-unavailable", true],
    ["an empty answer", 502, "", "provider-unavailable", true],
  ];
  for (const [what, status, body, code, retryable] of cases) {
    it(`${what} is ${code}`, () => {
      const error = toError({ status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body), now: 0 });
      assert.deepEqual([error.code, error.retryable, error.httpStatus], [code, retryable, status]);
    });
  }

  it("says who answered, what, and what to check, without the key", () => {
    const body = JSON.stringify({ error: { message: "Incorrect API key provided: top-secret-key" } });
    assert.deepEqual(toError({ status: 401, headers: {}, body, now: 0, secrets: ["top-secret-key"] }).toJSON(), {
      code: "provider-auth",
      message: "Acme answered HTTP 401: Incorrect API key provided: [redacted]",
      retryable: false,
      httpStatus: 401,
      hint: "Check ACME_API_KEY",
    });
  });

  it("passes on what the server behind a router said, and how long to wait", () => {
    const body = JSON.stringify({ error: { message: "Provider returned error", code: 429, metadata: { raw: "slow down" } } });
    assert.deepEqual(toError({ status: 429, headers: { "retry-after": "2" }, body, now: 0 }).toJSON(), {
      code: "provider-rate-limit",
      message: "Acme answered HTTP 429: Provider returned error: slow down",
      retryable: true,
      retryAfterMs: 2_000,
      httpStatus: 429,
    });
  });
});
