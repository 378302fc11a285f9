import { RuntimeError, type RuntimeErrorOptions } from "../protocol/errors.ts";
import { createRedactor } from "../util/redact.ts";
import { defined } from "../util/defined.ts";
import { isRecord } from "../util/is-record.ts";

export type HttpFailure = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds since 1970: a `retry-after` may be a date. */
  readonly now: number;
  /** Header values that must not show up in a message. */
  readonly secrets?: readonly string[];
};

/** What differs between wires: the rest of the mapping follows from the status. */
export type HttpErrorWords = {
  /** Who answered, for messages. */
  readonly provider: string;
  /** What to check when the key is refused. */
  readonly authHint: string;
  /** Recognises a refusal because the conversation is too long: wires only say so in words. */
  isContextOverflow(message: string): boolean;
};

/** The typed failure behind an answer that is no 2xx. */
export function toHttpError(failure: HttpFailure, words: HttpErrorWords): RuntimeError {
  const { status, headers, now } = failure;
  const said = messageIn(failure.body) ?? excerpt(failure.body);
  const reason = redact(said, failure.secrets);
  const message = `${words.provider} answered HTTP ${status}${reason ? `: ${reason}` : " with an empty body"}`;
  const retryAfterMs = retryAfter(headers, now);
  const requestId = requestIdIn(headers);
  const answered: RuntimeErrorOptions = {
    httpStatus: status,
    ...defined({ errorType: typeIn(failure.body), requestId }),
  };
  const retry: RuntimeErrorOptions = { ...answered, retryable: true, ...defined({ retryAfterMs }) };

  if (status === 401 || status === 403) {
    return new RuntimeError("provider-auth", message, { ...answered, hint: words.authHint });
  }
  if (headers["x-should-retry"] === "true") return new RuntimeError("provider-unavailable", message, retry);
  if (status === 429 && isFinal(failure))
    return new RuntimeError("provider-rate-limit", message, {
      ...answered,
      hint: "Another try does not help: the limit has to be raised, or its period to end",
    });
  if (status === 429) return new RuntimeError("provider-rate-limit", message, retry);
  const unanswered = headers["x-should-retry"] === "false" ? answered : retry; // a server that says so knows better
  if (status === 529) return new RuntimeError("provider-overloaded", message, unanswered);
  if (status === 408 || status === 409 || status >= 500) return new RuntimeError("provider-unavailable", message, unanswered);
  if (words.isContextOverflow(said)) return new RuntimeError("context-overflow", message, answered);
  return new RuntimeError("provider-bad-request", message, {
    ...answered,
    ...(status >= 300 &&
      status < 400 && {
        hint: `The base URL leads to a redirect${headers["location"] ? ` to ${headers["location"]}` : ""}; use that address`,
      }),
  });
}

/** A limit of spending, or a server that says so itself: the same request fails until somebody does something. */
function isFinal({ headers, body }: HttpFailure): boolean {
  return headers["x-should-retry"] === "false" || body.includes('"enforced_spend_limit_reached"');
}

/** The provider's own id of a request, as its answer names it. */
export function requestIdIn(headers: Readonly<Record<string, string>>): string | undefined {
  return requestIdHeaders.map((name) => headers[name]).find((value) => value !== undefined && requestIdForm.test(value));
}

const requestIdHeaders = ["request-id", "x-request-id", "x-amzn-requestid", "apim-request-id"];
const requestIdForm = /^[\w.:=+/-]{1,128}$/;

/** The first characters of a body on one line, without anything that looks like a key. */
export function excerpt(body: string, secrets?: readonly string[]): string {
  const line = redact(body.replace(/\s+/g, " ").trim(), secrets);
  return line.length > excerptLength ? `${line.slice(0, excerptLength)}…` : line;
}

const excerptLength = 200;

/** Hides the given secrets and whatever has the shape of a key. A provider quotes the keys it refuses, so these need not be well-formed. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const { text: hide } = createRedactor({ secrets });
  return hide(text.replace(/\b(?:sk|pk|key)-[A-Za-z0-9_-]{8,}/g, "[redacted]"));
}

/** Milliseconds the server asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const precise = toNumber(headers["retry-after-ms"]);
  if (precise !== undefined) return precise;
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  const seconds = toNumber(value);
  if (seconds !== undefined) return Math.round(seconds * 1_000);
  const date = value.includes(":") ? Date.parse(value) : Number.NaN; // Date.parse takes nearly anything for a date
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function toNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

/** `{ error: { message } }`, `{ error: "…" }` or `{ message }`, whichever the body holds. */
function messageIn(body: string): string | undefined {
  const parsed = parseObject(body);
  if (!parsed) return undefined;
  const { error, message } = parsed;
  if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string")
    return error.message;
  if (typeof error === "string") return error;
  return typeof message === "string" ? message : undefined;
}

/** `{ error: { type } }`, where it is a word. */
function typeIn(body: string): string | undefined {
  const error = parseObject(body)?.["error"];
  const type = isRecord(error) ? error["type"] : undefined;
  return typeof type === "string" && /^\w{1,64}$/.test(type) ? type : undefined;
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // an HTML page, or cut at our limit
  }
}
