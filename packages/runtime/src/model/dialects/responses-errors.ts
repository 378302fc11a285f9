import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { openAIStreamError } from "./openai-errors.ts";
import { stringIn } from "./json-fields.ts";

/** On top of what all of OpenAI's wires share: codes of this API for what no retry helps, and waiting times. */
export function streamError(error: JsonObject, provider: string): RuntimeError {
  const failure = openAIStreamError(error, provider);
  if (!failure.retryable) return failure;
  if (/image|_policy$|_residency_/.test(stringIn(error, "code")))
    return new RuntimeError("provider-bad-request", failure.message);
  const retryAfterMs = waitIn(stringIn(error, "message"));
  return retryAfterMs === undefined
    ? failure
    : new RuntimeError(failure.code, failure.message, { ...failure.toJSON(), retryAfterMs });
}

/** There are no headers inside a stream: how long to wait is only in the words. */
function waitIn(message: string): number | undefined {
  const [, amount, unit] = /try again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(message) ?? [];
  if (amount === undefined) return undefined;
  return Math.ceil(Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1_000));
}

export function broken(what: string): RuntimeError {
  return new RuntimeError("provider-protocol", `A piece of OpenAI's stream ${what}`, { retryable: true });
}
