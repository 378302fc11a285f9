import type { ErrorCode } from "../../../protocol/errors.ts";

/** The word of an `error` line for a failure: that of the format where it has one, else our own code. */
export function toLineCode(code: ErrorCode): string {
  return lineCodes[code] ?? code;
}

const lineCodes: Partial<Record<ErrorCode, string>> = {
  "provider-timeout": "TIMEOUT",
  "context-overflow": "CONTEXT_OVERFLOW",
  "model-empty-answer": "NO_OUTPUT",
};
