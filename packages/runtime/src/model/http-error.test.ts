import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ErrorData } from "../protocol/errors.ts";
import { anthropicHttpError } from "./dialects/anthropic-messages.ts";
import { excerpt, redact, retryAfter } from "./http-error.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const hint = "Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), and ANTHROPIC_BASE_URL if you use a gateway";

describe("an HTTP answer that is no 2xx", () => {
  const json = (type: string, message: string): string => JSON.stringify({ type: "error", error: { type, message } });
  const rows: [
    what: string,
    failure: { status: number; headers?: Record<string, string>; body?: string },
    expected: ErrorData,
  ][] = [
    [
      "401",
      { status: 401, body: json("authentication_error", "invalid x-api-key") },
      {
        code: "provider-auth",
        message: "Anthropic answered HTTP 401: invalid x-api-key",
        retryable: false,
        httpStatus: 401,
        errorType: "authentication_error",
        hint,
      },
    ],
    [
      "403",
      { status: 403, body: json("permission_error", "no") },
      {
        code: "provider-auth",
        message: "Anthropic answered HTTP 403: no",
        retryable: false,
        httpStatus: 403,
        errorType: "permission_error",
        hint,
      },
    ],
    [
      "400",
      { status: 400, body: json("invalid_request_error", "max_tokens: too many") },
      {
        code: "provider-bad-request",
        message: "Anthropic answered HTTP 400: max_tokens: too many",
        retryable: false,
        httpStatus: 400,
        errorType: "invalid_request_error",
      },
    ],
    [
      "400 for a prompt that is too long",
      { status: 400, body: json("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum") },
      {
        code: "context-overflow",
        message: "Anthropic answered HTTP 400: prompt is too long: 210000 tokens > 200000 maximum",
        retryable: false,
        httpStatus: 400,
        errorType: "invalid_request_error",
      },
    ],
    [
      "404",
      { status: 404, body: json("not_found_error", "model: nope") },
      {
        code: "provider-bad-request",
        message: "Anthropic answered HTTP 404: model: nope",
        retryable: false,
        httpStatus: 404,
        errorType: "not_found_error",
      },
    ],
    [
      "413",
      { status: 413, body: json("request_too_large", "32 MB") },
      {
        code: "provider-bad-request",
        message: "Anthropic answered HTTP 413: 32 MB",
        retryable: false,
        httpStatus: 413,
        errorType: "request_too_large",
      },
    ],
    [
      "422",
      { status: 422, body: '{"message":"odd"}' },
      { code: "provider-bad-request", message: "Anthropic answered HTTP 422: odd", retryable: false, httpStatus: 422 },
    ],
    [
      "408",
      { status: 408 },
      {
        code: "provider-unavailable",
        message: "Anthropic answered HTTP 408 with an empty body",
        retryable: true,
        httpStatus: 408,
      },
    ],
    [
      "409",
      { status: 409, body: '{"error":"conflict"}' },
      { code: "provider-unavailable", message: "Anthropic answered HTTP 409: conflict", retryable: true, httpStatus: 409 },
    ],
    [
      "429 of a limit that only somebody can raise",
      {
        status: 429,
        headers: { "retry-after": "7" },
        body: '{"error":{"type":"rate_limit_error","message":"spent","details":{"error_code":"enforced_spend_limit_reached"}}}',
      },
      {
        code: "provider-rate-limit",
        message: "Anthropic answered HTTP 429: spent",
        retryable: false,
        httpStatus: 429,
        errorType: "rate_limit_error",
        hint: "Another try does not help: the limit has to be raised, or its period to end",
      },
    ],
    [
      "500 that says not to come back",
      { status: 500, headers: { "x-should-retry": "false" }, body: json("api_error", "no") },
      {
        code: "provider-unavailable",
        message: "Anthropic answered HTTP 500: no",
        retryable: false,
        httpStatus: 500,
        errorType: "api_error",
      },
    ],
    [
      "400 that says to come back",
      { status: 400, headers: { "x-should-retry": "true" }, body: json("invalid_request_error", "busy") },
      {
        code: "provider-unavailable",
        message: "Anthropic answered HTTP 400: busy",
        retryable: true,
        httpStatus: 400,
        errorType: "invalid_request_error",
      },
    ],
    [
      "429 that says not to come back",
      { status: 429, headers: { "x-should-retry": "false" }, body: json("rate_limit_error", "no") },
      {
        code: "provider-rate-limit",
        message: "Anthropic answered HTTP 429: no",
        retryable: false,
        httpStatus: 429,
        errorType: "rate_limit_error",
        hint: "Another try does not help: the limit has to be raised, or its period to end",
      },
    ],
    [
      "429 with a pause",
      { status: 429, headers: { "retry-after": "7" }, body: json("rate_limit_error", "slow down") },
      {
        code: "provider-rate-limit",
        message: "Anthropic answered HTTP 429: slow down",
        retryable: true,
        httpStatus: 429,
        errorType: "rate_limit_error",
        retryAfterMs: 7_000,
      },
    ],
    [
      "529",
      { status: 529, body: json("overloaded_error", "Overloaded") },
      {
        code: "provider-overloaded",
        message: "Anthropic answered HTTP 529: Overloaded",
        retryable: true,
        httpStatus: 529,
        errorType: "overloaded_error",
      },
    ],
    [
      "502 with a page",
      { status: 502, body: "<html>\n  <h1>Bad Gateway</h1>\n</html>" },
      {
        code: "provider-unavailable",
        message: "Anthropic answered HTTP 502: <html> <h1>Bad Gateway</h1> </html>",
        retryable: true,
        httpStatus: 502,
      },
    ],
    [
      "a redirect",
      { status: 308, headers: { location: "https://elsewhere/" } },
      {
        code: "provider-bad-request",
        message: "Anthropic answered HTTP 308 with an empty body",
        retryable: false,
        httpStatus: 308,
        hint: "The base URL leads to a redirect to https://elsewhere/; use that address",
      },
    ],
  ];
  for (const [what, failure, expected] of rows) {
    it(`maps ${what}`, () => {
      assert.deepEqual(anthropicHttpError({ headers: {}, body: "", now, ...failure }).toJSON(), expected);
    });
  }

  it("hides keys, known ones and those that look like one", () => {
    const body = json("invalid_request_error", "key sk-ant-api03-abcdefgh and my-own-secret and Bearer abc.def-ghi/123");
    const error = anthropicHttpError({ status: 400, headers: {}, body, now, secrets: ["my-own-secret"] });
    assert.equal(error.message, "Anthropic answered HTTP 400: key [redacted] and [redacted] and Bearer [redacted:bearer-token]");
    assert.equal(redact("nothing to hide"), "nothing to hide");
  });

  it("shows the first 200 characters of anything else", () => {
    assert.equal(excerpt("x".repeat(500)), `${"x".repeat(200)}…`);
    assert.equal(excerpt(" \n "), "");
  });
});

describe("retryAfter", () => {
  const rows: [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ "retry-after": "3" }, 3_000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "1.5" }, 1_500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" }, 20_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after-ms": "250", "retry-after": "3" }, 250],
  ];
  for (const [headers, expected] of rows) {
    it(`reads ${JSON.stringify(headers)} as ${expected}`, () => assert.equal(retryAfter(headers, now), expected));
  }
});
