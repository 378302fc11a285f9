import type { ErrorCode } from "../../../protocol/errors.ts";

/** The word a run's `error` line has for a failure: the runtime's own where it has one, else our code. */
export function toSeedCode(code: ErrorCode): string {
  return seedCodes[code] ?? code;
}

const seedCodes: Partial<Record<ErrorCode, string>> = {
  "provider-timeout": "TIMEOUT",
  "context-overflow": "CONTEXT_OVERFLOW",
  "model-empty-answer": "NO_OUTPUT",
};
