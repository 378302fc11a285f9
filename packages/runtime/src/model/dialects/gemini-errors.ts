import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../../protocol/content.ts";
import { defined } from "../../util/defined.ts";
import { excerpt, redact, toHttpError } from "../http-error.ts";
import { numberIn, parseJson, stringIn } from "./json-fields.ts";

export const words = {
  provider: "Gemini",
  authHint: "Check GEMINI_API_KEY, and the base URL if you use a gateway",
  /** The API has no code for it, only these words. */
  isContextOverflow: (message: string): boolean =>
    /token count[^.]*(exceeds|supports up to)|exceeds the maximum number of (input )?tokens/i.test(message),
};

/** A `google.rpc.Status`: `status` is the name of a code, `details` are typed by their `@type`. */
type WireError = { code: number | undefined; status: string; message: string; details: JsonObject[] };

/** Without `alt=sse` the API wraps its object into a list. */
export function errorIn(body: string): WireError | undefined {
  const parsed = parseJson(body);
  const payload = Array.isArray(parsed) ? parsed[0] : parsed;
  return isJsonObject(payload) && isJsonObject(payload["error"]) ? toWireError(payload["error"]) : undefined;
}

function toWireError(error: JsonValue): WireError {
  if (!isJsonObject(error)) return { code: undefined, status: "", message: String(error), details: [] };
  return {
    code: numberIn(error, "code"),
    status: stringIn(error, "status"),
    message: stringIn(error, "message"),
    details: Array.isArray(error["details"]) ? error["details"].filter(isJsonObject) : [],
  };
}

/** An error the server reports after it had begun to answer. */
export function streamError(value: JsonValue): RuntimeError {
  const error = toWireError(value);
  const status = error.code !== undefined && error.code >= 400 ? error.code : 500;
  const plain = toHttpError({ status, headers: {}, body: JSON.stringify({ error: { message: error.message } }), now: 0 }, words);
  const meaning = meaningOf(error, plain);
  const name = error.status || `error ${error.code ?? "without a name"}`;
  const message = `Gemini broke off its answer with ${name}${error.message ? `: ${redact(error.message)}` : ""}`;
  return new RuntimeError(meaning.code, message, meaning);
}

type Meaning = { code: ErrorCode; retryable: boolean; hint?: string; retryAfterMs?: number };
const auth: Meaning = { code: "provider-auth", retryable: false, hint: words.authHint };

const meanings: Readonly<Record<string, Meaning>> = {
  UNAUTHENTICATED: auth,
  PERMISSION_DENIED: auth,
  RESOURCE_EXHAUSTED: { code: "provider-rate-limit", retryable: true },
  UNAVAILABLE: { code: "provider-overloaded", retryable: true },
  DEADLINE_EXCEEDED: { code: "provider-timeout", retryable: true },
  INTERNAL: { code: "provider-unavailable", retryable: true },
};

/** What the error says in its own words; `plain` is what its number alone says. */
export function meaningOf({ status, details }: WireError, plain: RuntimeError): Meaning {
  if (details.some((detail) => detail["reason"] === "API_KEY_INVALID")) return auth; // comes as 400, INVALID_ARGUMENT
  if (details.some(isDailyQuota)) {
    return { code: "provider-rate-limit", retryable: false, hint: "The quota of the day is used up: use another model or key" };
  }
  const { code, retryable, hint, retryAfterMs } = plain;
  const meaning = meanings[status] ?? { code, retryable, ...defined({ hint }) };
  const wait = retryDelayIn(details) ?? retryAfterMs;
  return meaning.retryable && wait !== undefined ? { ...meaning, retryAfterMs: wait } : meaning;
}

/** The delay named beside it is that of the quota per minute: trying again soon does not help. */
function isDailyQuota(detail: JsonObject): boolean {
  const violations = Array.isArray(detail["violations"]) ? detail["violations"].filter(isJsonObject) : [];
  return violations.some((violation) => /PerDay/i.test(stringIn(violation, "quotaId")));
}

function retryDelayIn(details: readonly JsonObject[]): number | undefined {
  const seconds = details.map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(stringIn(detail, "retryDelay"))?.[1]).find(Boolean);
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}
export function parsePayload(data: string): JsonObject {
  const payload = parseJson(data);
  if (isJsonObject(payload)) return payload;
  throw new RuntimeError("provider-protocol", `A piece of Gemini's stream is no JSON object: ${excerpt(data)}`, {
    retryable: true,
  });
}

/** Options may ask for several candidates; the first is the answer. */
