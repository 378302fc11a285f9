import { type ErrorCode, RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/content.ts";

/** What is wrong with a request to the server itself; everything else has the codes that the library has everywhere. */
export type HttpCode =
  | "unauthorized"
  | "forbidden"
  | "bad-request"
  | "method-not-allowed"
  | "too-large"
  | "unsupported-media-type"
  | "rate-limited"
  | "key-reused"
  | "upgrade-required"
  | "request-timeout"
  | "headers-too-large"
  | "expectation-failed";

const statusOfHttpCode: Readonly<Record<HttpCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  "bad-request": 400,
  "method-not-allowed": 405,
  "too-large": 413,
  "unsupported-media-type": 415,
  "rate-limited": 429,
  "key-reused": 422,
  "upgrade-required": 426,
  "request-timeout": 408,
  "headers-too-large": 431,
  "expectation-failed": 417,
};

/** By code, never by the words of a message. */
const statusOfCode: Readonly<Record<ErrorCode, number>> = {
  usage: 400,
  "no-input": 400,
  config: 422,
  "not-found": 404,
  busy: 409,
  closed: 503,
  "provider-auth": 502,
  "provider-rate-limit": 502,
  "provider-overloaded": 502,
  "provider-bad-request": 502,
  "provider-unavailable": 502,
  "provider-timeout": 504,
  "provider-protocol": 502,
  "context-overflow": 422,
  "model-refusal": 502,
  "model-empty-answer": 502,
  "model-output-limit": 502,
  "output-schema": 502,
  "replay-mismatch": 409,
  "limit-reached": 429,
  "storage-failed": 507,
  "session-locked": 409,
  "subscriber-overflow": 503,
  internal: 500,
};

/** A request that is refused before it reaches a session. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly code: HttpCode;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: HttpCode,
    message: string,
    { retryAfterMs, headers = {} }: { retryAfterMs?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.headers = headers;
  }
}

export type Problem = { readonly status: number; readonly headers: Record<string, string>; readonly body: JsonObject };

/** A failure as RFC 9457 has it, with our code. What only a developer may know stays here. */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof HttpProblem) {
    const { code, message, retryAfterMs, headers } = thrown;
    return problem(
      {
        code,
        status: statusOfHttpCode[code],
        detail: message,
        retryAfterMs,
        retryable: code === "rate-limited" || code === "request-timeout",
      },
      headers,
    );
  }
  const { code, message, hint, retryable, retryAfterMs } = toRuntimeError(thrown);
  const detail = code === "internal" && !(thrown instanceof RuntimeError) ? "Something went wrong inside the server" : message;
  const status = statusOfCode[code];
  return problem({ code, status, detail, hint, retryable, retryAfterMs: retryAfterMs ?? usualWaitMs(status) }, {});
}

/** Nobody knows when there is room again, or when another server is there: so they look again soon. */
function usualWaitMs(status: number): number | undefined {
  return status === 429 ? 1_000 : status === 503 ? 5_000 : undefined;
}

type Facts = {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
};

function problem(
  { code, status, detail, hint, retryable, retryAfterMs }: Facts,
  headers: Readonly<Record<string, string>>,
): Problem {
  const seconds = retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  return {
    status,
    headers: { ...headers, ...seconds, "content-type": "application/problem+json" },
    body: {
      type: `urn:outrider:error:${code}`,
      title: code,
      status,
      detail,
      code,
      retryable,
      ...(hint !== undefined && { hint }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  };
}

/** The same as bytes, for a connection on which no answer can be sent otherwise; it ends with that. */
export function toRawResponse(thrown: unknown): string {
  const { status, headers, body } = toProblem(thrown);
  const text = JSON.stringify(body);
  const all = { ...headers, "content-length": String(Buffer.byteLength(text)), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${String(body["title"])}\r\n${lines.join("\r\n")}\r\n\r\n${text}`;
}
