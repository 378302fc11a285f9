import { type ErrorCode, RuntimeError } from "../../protocol/errors.ts";
import { type JsonObject, isJsonObject } from "../../protocol/content.ts";
import { excerpt, redact } from "../http-error.ts";
import { stringIn } from "./json-fields.ts";

export const authHint = "Check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), and ANTHROPIC_BASE_URL if you use a gateway";

const streamErrors: Readonly<Record<string, { code: ErrorCode; retryable: boolean }>> = {
  overloaded_error: { code: "provider-overloaded", retryable: true },
  rate_limit_error: { code: "provider-rate-limit", retryable: true },
  api_error: { code: "provider-unavailable", retryable: true },
  timeout_error: { code: "provider-timeout", retryable: true },
  authentication_error: { code: "provider-auth", retryable: false },
  permission_error: { code: "provider-auth", retryable: false },
  billing_error: { code: "provider-auth", retryable: false },
  invalid_request_error: { code: "provider-bad-request", retryable: false },
  request_too_large: { code: "provider-bad-request", retryable: false },
  not_found_error: { code: "provider-bad-request", retryable: false },
};

/** An error the server reports after it had begun to answer. */
export function streamError(error: JsonObject): RuntimeError {
  const type = stringIn(error, "type");
  const said = stringIn(error, "message");
  const known = streamErrors[type] ?? { code: "provider-unavailable", retryable: true };
  const code = known.code === "provider-bad-request" && isContextOverflow(said) ? "context-overflow" : known.code;
  const message = `Anthropic broke off its answer with ${type || "an unnamed error"}${said ? `: ${redact(said)}` : ""}`;
  return new RuntimeError(code, message, {
    retryable: known.retryable,
    ...(streamErrors[type] && { errorType: type }),
    ...(code === "provider-auth" && { hint: authHint }),
  });
}

/** The API has no code for it, only these words. */
export function isContextOverflow(message: string): boolean {
  return /prompt is too long|exceed(s|ed)? (the )?(model's )?(maximum )?context/i.test(message);
}

export function broken(what: string): RuntimeError {
  return new RuntimeError("provider-protocol", `A piece of Anthropic's stream ${what}`, { retryable: true });
}

export function objectIn(payload: JsonObject, name: string): JsonObject {
  const value = payload[name];
  if (isJsonObject(value)) return value;
  throw broken(`lacks "${name}": ${excerpt(JSON.stringify(payload))}`);
}
