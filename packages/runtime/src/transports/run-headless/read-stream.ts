import { RuntimeError } from "../../protocol/errors.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { type AgentStreamResult, fieldIn, type ModelMessage, type StreamUsage, toStreamUsage } from "./runnable-agent.ts";
import { type OpenStep, type StreamSteps, usageOfStep } from "./stream-step.ts";

export type StreamLimits = {
  /** How long a model may be silent; undefined for ever. */
  readonly timeoutMs: number | undefined;
  /** Nobody waits any longer, whatever the agent does. */
  readonly signal: AbortSignal;
};

export type StreamEnd = { finishReason: string; usage: StreamUsage | undefined; messages: ModelMessage[] };

/** Reads an answer to its end and hands out each step as soon as it is whole. Rejects with `provider-timeout` when it stalls. */
export async function readStream(
  result: AgentStreamResult,
  steps: StreamSteps,
  { limits, onStep }: { limits: StreamLimits; onStep: (step: OpenStep) => void },
): Promise<StreamEnd> {
  const give = (usage: StreamUsage | undefined): void => {
    const step = steps.take(usage);
    if (step) onStep(step);
  };
  const promises = Promise.all([result.response, result.finishReason, result.usage]);
  promises.catch(() => {}); // looked at below; a stream that fails first must not leave them unhandled
  const iterator = result.fullStream[Symbol.asyncIterator]();
  let isOver = false;
  let isHeld = false; // a whole step without usage of its own: it has that of the stream, if it is the last
  try {
    while (!isOver) {
      const timeoutMs = steps.isBusy ? undefined : limits.timeoutMs;
      const next = await waitFor(iterator.next(), { ...limits, timeoutMs });
      isOver = next.done === true;
      if (isOver) break;
      if (isHeld && fieldIn(next.value, "type") !== "finish") {
        give(undefined);
        isHeld = false;
      }
      if (!steps.add(next.value)) continue;
      const usage = usageOfStep(next.value);
      if (usage) give(usage);
      else isHeld = true;
    }
  } finally {
    if (!isOver) void Promise.resolve(iterator.return?.()).catch(() => {}); // an agent that stalls may never come back
  }
  const [response, finishReason, usage] = await waitFor(promises, limits);
  const counted = toStreamUsage(usage);
  give(counted);
  return { finishReason, usage: counted, messages: response.messages };
}

export async function waitFor<T>(promise: PromiseLike<T>, { timeoutMs, signal }: StreamLimits): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    if (timeoutMs === undefined) return;
    timer = setTimeout(() => reject(stalled(timeoutMs)), timeoutMs);
  });
  try {
    return await untilAborted(Promise.race([promise, timeout]), signal);
  } finally {
    clearTimeout(timer);
  }
}

function stalled(timeoutMs: number): RuntimeError {
  return new RuntimeError("provider-timeout", `The model said nothing for ${timeoutMs} ms`, {
    retryable: true,
    hint: "Raise streamTimeoutMs if it is only slow",
  });
}
