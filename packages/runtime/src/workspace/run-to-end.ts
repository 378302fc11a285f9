import { RuntimeError } from "../protocol/errors.ts";
import type { RunCommand, RunningProcess, RunResult, Workspace } from "./workspace.ts";

const maxTimerMs = 2 ** 31 - 1;

/** `run` of a workspace, by its `start`. */
export async function runToEnd(start: Workspace["start"], command: RunCommand): Promise<RunResult> {
  const { input, timeoutMs, signal, ...program } = command;
  const stop = new AbortController();
  let isLate = false;
  const onAbort = (): void => stop.abort();
  const onTimeout = (): void => {
    isLate = true;
    stop.abort();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) stop.abort();
  const isTimed = timeoutMs !== Number.POSITIVE_INFINITY;
  const timer = isTimed ? setTimeout(onTimeout, Math.min(timeoutMs, maxTimerMs)) : undefined;
  try {
    const running = await start({ ...program, signal: stop.signal, takesInput: input !== undefined });
    if (input !== undefined) void running.write(input);
    running.endInput();
    const result = await running.ended;
    return result.end === "aborted" && isLate ? { end: "timeout" } : result;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Of a program that was to be killed before it was started. */
export function neverStarted(): RunningProcess {
  return {
    pid: undefined,
    ended: Promise.resolve({ end: "aborted" }),
    write: async () => false,
    endInput: () => {},
    kill: async () => {},
  };
}

export function closedWorkspace(): RuntimeError {
  return new RuntimeError("closed", "The workspace is closed: it starts no more programs.");
}
