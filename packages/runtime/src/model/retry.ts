import { type RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { sleep } from "../util/sleep.ts";
import type { ModelEvent } from "./model.ts";

export type RetryPolicy = {
  /** 0 = fail on the first failure. */
  readonly maxRetries: number;
  /** The first pause; each further one is twice as long, up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** A server that asks for a longer pause than this is not waited for. */
  readonly maxRetryAfterMs: number;
};

export const defaultRetryPolicy: RetryPolicy = { maxRetries: 6, baseDelayMs: 500, maxDelayMs: 32_000, maxRetryAfterMs: 120_000 };

/** Repeats an attempt that failed where that can help, and says so in between. `open` is told how often it was repeated. */
export async function* withRetries(
  open: (retries: number) => AsyncIterable<readonly ModelEvent[]>,
  { policy, signal, random }: { policy: RetryPolicy; signal: AbortSignal; random: () => number },
): AsyncGenerator<readonly ModelEvent[]> {
  for (let retries = 0; ; retries++) {
    try {
      yield* open(retries);
      return;
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = toRuntimeError(thrown);
      const delayMs = retryDelay(error, { retries, policy, random });
      if (delayMs === undefined) throw giveUp(error, { retries, policy });
      yield [{ type: "retry.scheduled", attempt: retries + 1, maxRetries: policy.maxRetries, delayMs, error: error.toJSON() }];
      await sleep(delayMs, signal);
    }
  }
}

/** How long to wait before trying again; undefined when that would not help, or was done often enough. */
export function retryDelay(
  error: RuntimeError,
  { retries, policy, random }: { retries: number; policy: RetryPolicy; random: () => number },
): number | undefined {
  if (!error.retryable || retries >= policy.maxRetries) return undefined;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= policy.maxRetryAfterMs ? error.retryAfterMs : undefined;
  const ceiling = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** retries);
  // Between half and whole: clients that failed together do not come back together.
  return Math.round(ceiling * (0.5 + random() / 2));
}

/** The same failure, saying what was tried and how long the server wants to be left alone. */
export function giveUp(error: RuntimeError, { retries, policy }: { retries: number; policy: RetryPolicy }): RuntimeError {
  const notes: string[] = [];
  if (error.retryAfterMs !== undefined && error.retryAfterMs > policy.maxRetryAfterMs) {
    notes.push(`the server asks to wait ${Math.ceil(error.retryAfterMs / 1_000)} s`);
  }
  if (retries > 0) notes.push(`gave up after ${retries} ${retries === 1 ? "retry" : "retries"}`);
  if (notes.length === 0) return error;
  return error.restated({ message: `${error.message} (${notes.join("; ")})`, cause: error.cause ?? error });
}
