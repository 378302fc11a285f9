import type { Timeouts } from "../model/http.ts";
import type { RetryPolicy } from "../model/retry.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { countIn } from "./claude-variables.ts";
import { longestTimer } from "./profiles.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const timeoutVariables: Record<string, keyof Timeouts> = {
  OUTRIDER_CONNECT_TIMEOUT_MS: "connectMs",
  OUTRIDER_HEADERS_TIMEOUT_MS: "headersMs",
  OUTRIDER_FIRST_BYTE_TIMEOUT_MS: "firstByteMs",
  OUTRIDER_IDLE_TIMEOUT_MS: "idleMs",
  OUTRIDER_TOTAL_TIMEOUT_MS: "totalMs",
};

const retryVariables: Record<string, keyof RetryPolicy> = {
  OUTRIDER_MAX_RETRIES: "maxRetries",
  OUTRIDER_RETRY_BASE_MS: "baseDelayMs",
};

/** Claude Code's variables for that: the only ones of a settings file that a provider hears of. */
export function patienceIn(env: Environment): Environment {
  const names = ["API_TIMEOUT_MS", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_STREAM_IDLE_TIMEOUT_MS"];
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** How long to wait and how often to try again, as the environment says: in our words, else in Claude Code's. */
export function readTimeouts(env: Environment): { timeouts: Partial<Timeouts>; retry: Partial<RetryPolicy> } {
  const [patienceMs, maxRetries] = [countIn(env, "API_TIMEOUT_MS", 1), countIn(env, "CLAUDE_CODE_MAX_RETRIES", 0)];
  const idleMs = countIn(env, "CLAUDE_STREAM_IDLE_TIMEOUT_MS", 1);
  return {
    timeouts: {
      ...(patienceMs !== undefined && { headersMs: patienceMs, firstByteMs: patienceMs }),
      ...(idleMs !== undefined && { idleMs }),
      ...readNumbers(env, timeoutVariables, 1),
    },
    retry: { ...(maxRetries !== undefined && { maxRetries }), ...readNumbers(env, retryVariables, 0) },
  };
}

function readNumbers<K extends string>(
  env: Environment,
  variables: Readonly<Record<string, K>>,
  least: number,
): Partial<Record<K, number>> {
  const numbers: Partial<Record<K, number>> = {};
  for (const [name, key] of Object.entries(variables)) {
    const text = env[name]?.trim();
    if (!text) continue;
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > longestTimer)
      throw new RuntimeError(
        "config",
        `${name} must be a whole number from ${least} to ${longestTimer}, not ${JSON.stringify(text)}`,
      );
    numbers[key] = value;
  }
  return numbers;
}
