import type { ErrorData } from "./errors.ts";

/** Claude Code's word for a failure of the provider; undefined for every other failure. */
export function apiErrorWord({ code, httpStatus }: ErrorData): string | undefined {
  switch (code) {
    case "provider-auth":
      return "authentication_failed";
    case "provider-rate-limit":
      return "rate_limit";
    case "provider-overloaded":
      return "overloaded";
    case "provider-bad-request":
      return badRequests[httpStatus ?? 400] ?? "invalid_request";
    case "context-overflow":
      return "invalid_request";
    case "provider-unavailable":
      return httpStatus === undefined ? "unknown" : "server_error"; // of a connection that was lost nobody knows why
    case "provider-timeout":
      return "server_error";
    case "provider-protocol":
      return "unknown";
    default:
      return undefined;
  }
}

const badRequests: Readonly<Record<number, string>> = { 402: "billing_error", 404: "model_not_found" };
