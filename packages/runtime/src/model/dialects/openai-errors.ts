import { type JsonValue, isJsonObject } from "../../protocol/content.ts";
import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import { type HttpFailure, redact, toHttpError } from "../http-error.ts";
import { parseJson } from "./json-fields.ts";

/**
 * How answers that are no 2xx become typed failures, for every server that speaks like OpenAI's.
 * `title` is who answered, `keyHint` what to check when the key is refused.
 */
export function openAIHttpError(title: string, keyHint: string): (failure: HttpFailure) => RuntimeError {
  return (failure) => {
    const { status } = failure;
    const error = toWireError(parseJson(failure.body));
    const plain = toHttpError(error.message ? { ...failure, body: JSON.stringify({ message: error.message }) } : failure, {
      provider: title,
      authHint: keyHint,
      isContextOverflow: () => isContextOverflow(error),
    });
    if (status === 402 || isOutOfCredit(error)) {
      return new RuntimeError("provider-auth", plain.message, { httpStatus: status, hint: creditHint });
    }
    if (plain.code === "provider-auth" || !isContextOverflow(error)) return plain;
    return new RuntimeError("context-overflow", plain.message, { httpStatus: status });
  };
}

/** An error the server reports after it had begun to answer: an object, or only words. */
export function openAIStreamError(reported: JsonValue, provider: string): RuntimeError {
  const error = toWireError(reported);
  const known = classify(error);
  const name = error.names[0] ?? (error.status === undefined ? "an unnamed error" : `error ${error.status}`);
  const message = `${provider} broke off its answer with ${name}${error.message ? `: ${redact(error.message)}` : ""}`;
  return new RuntimeError(known.code, message, {
    retryable: known.retryable,
    ...(isOutOfCredit(error) && { hint: creditHint }),
  });
}

const creditHint = "The account behind this key has no credit or quota left";

/** `names` are the error's code and type, the more exact one first; a code that is a number is an HTTP status. */
type WireError = { readonly message: string; readonly names: readonly string[]; readonly status: number | undefined };

/** `{ error: { message, type, code } }`, `{ error: "…" }`, the inside of either, or a list of one of them. */
function toWireError(reported: JsonValue | undefined): WireError {
  const outer = Array.isArray(reported) ? reported[0] : reported;
  const inner = isJsonObject(outer) ? (outer["error"] ?? outer) : outer;
  if (typeof inner === "string") return { message: inner, names: [], status: undefined };
  if (!isJsonObject(inner)) return { message: "", names: [], status: undefined };
  const { code, type, message, detail } = inner;
  const words = [code, type].filter((name): name is string => typeof name === "string" && name !== "" && name !== "error");
  const said = typeof message === "string" ? message : typeof detail === "string" ? detail : "";
  return {
    message: withUpstream(said, inner["metadata"]),
    names: words.filter((name) => !isStatus(name)),
    status: [code, ...words].map(Number).find(isStatus),
  };
}

/** A router's own words often hide what the server behind it said. */
function withUpstream(message: string, metadata: JsonValue | undefined): string {
  const raw = isJsonObject(metadata) ? metadata["raw"] : undefined;
  return typeof raw === "string" && raw ? `${message}: ${raw}` : message;
}

function isStatus(value: string | number): boolean {
  const status = Number(value);
  return Number.isInteger(status) && status >= 400 && status < 600;
}

type Known = { code: ErrorCode; retryable: boolean };

const badRequest: Known = { code: "provider-bad-request", retryable: false };
const auth: Known = { code: "provider-auth", retryable: false };
const rateLimit: Known = { code: "provider-rate-limit", retryable: true };
const overloaded: Known = { code: "provider-overloaded", retryable: true };
const unavailable: Known = { code: "provider-unavailable", retryable: true };
const timedOut: Known = { code: "provider-timeout", retryable: true };

/** By what the names hold: every server has its own spelling of the same few words. */
const namedErrors: readonly [pattern: RegExp, known: Known][] = [
  [/api_?key|auth|permission|forbidden|billing/i, auth],
  [/rate_?limit|too_?many|^requests$|^tokens$/i, rateLimit],
  [/overload|capacity|service_?unavailable/i, overloaded],
  [/timeout|timed_?out/i, timedOut],
  [/server|internal|api_?error/i, unavailable],
  [/invalid|bad_?request|not_?found|unsupported|content_(filter|policy)|too_?large/i, badRequest],
];

function classify(error: WireError): Known {
  if (isOutOfCredit(error)) return auth;
  if (isContextOverflow(error)) return { code: "context-overflow", retryable: false };
  for (const name of error.names) {
    const known = namedErrors.find(([pattern]) => pattern.test(name))?.[1];
    if (known) return known;
  }
  return byStatus(error.status);
}

function byStatus(status: number | undefined): Known {
  if (status === 401 || status === 402 || status === 403) return auth;
  if (status === 429) return rateLimit;
  if (status === 529) return overloaded;
  if (status === 408 || status === 504) return timedOut;
  return status === undefined || status >= 500 || status === 409 ? unavailable : badRequest;
}

function isOutOfCredit({ names, message }: WireError): boolean {
  return (
    names.some((name) => /insufficient_(quota|balance|credits|funds)|billing_hard_limit|credit_balance_exhausted/i.test(name)) ||
    /insufficient (account )?(balance|credits?|funds)|credit balance is too low/i.test(message) ||
    /(used|spent) (up )?all (\w+ ){0,2}credits?|(out of|no more|not enough) credits?|spending limit/i.test(message)
  );
}

/** Some servers have a code for it, the others only words. */
function isContextOverflow({ names, message }: WireError): boolean {
  return (
    names.some((name) => /context_(length|window|size)|exceed_context|^1261$/i.test(name)) || // z.ai has numbers
    /maximum (context|prompt) length|(exceed|larger|greater|longer|too).{0,40}context (length|window|size)/i.test(message) ||
    /context (length|window|size).{0,20}(exceed|overflow)|prompt is too long|input is too long|request too large/i.test(
      message,
    ) ||
    /reduce the length of the messages|token count.{0,40}exceeds the (limit|maximum)|range of input length should be/i.test(
      message,
    )
  );
}
