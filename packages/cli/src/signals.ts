import { exitCodes } from "./exit-codes.ts";

/** How long a run may take to end by itself after a signal; then it is ended. */
const patienceMs = 1500;
/** After a second Ctrl-C there is only time to end child processes. */
const lastMomentMs = 400;

export interface SignalWatch {
  /** A second Ctrl-C came: whatever the run still made of itself, the exit code says so. */
  readonly insisted: boolean;
  close(): void;
}

/** First signal: stop the run, which then ends in its own way. Second Ctrl-C, or a run that does not end: leave. */
export function watchSignals(options: { stop: () => void; exitCode: number }): SignalWatch {
  let timer: NodeJS.Timeout | undefined;
  const leave = (code: number, afterMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => process.exit(code), afterMs);
  };
  let stopped = false;
  let insisted = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopped && signal === "SIGINT") {
      insisted = true;
      return leave(exitCodes.killed, lastMomentMs);
    }
    if (stopped) return;
    stopped = true;
    leave(options.exitCode, patienceMs);
    options.stop();
  };
  const signals: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    get insisted() {
      return insisted;
    },
    close() {
      clearTimeout(timer);
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
