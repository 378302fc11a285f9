import { exitCodes } from "../exit-codes.ts";
import { afterPatience } from "./patience.ts";

/**
 * How long a run may take to end by itself after a signal; then it is ended. Two seconds are promised, and ending its processes takes time
 * too, the more the busier the machine is.
 */
const patienceMs = 1600;
/** After a second Ctrl-C there is only time to end child processes. */
const lastMomentMs = 400;

/** A signal or the deadline came before there was a run to stop. */
export class StoppedEarly extends Error {
  override readonly name = "StoppedEarly";
  readonly by: "signal" | "deadline";
  readonly signal: NodeJS.Signals | undefined;

  constructor(message: string, by: "signal" | "deadline", signal?: NodeJS.Signals) {
    super(message);
    this.by = by;
    this.signal = signal;
  }
}

export interface SignalWatch {
  /** Called by the first signal; until it is set, `early` rejects. */
  stop: (() => void) | undefined;
  readonly early: Promise<never>;
  /** The first that came. */
  readonly signal: NodeJS.Signals | undefined;
  /** A second Ctrl-C came: whatever the run still made of itself, the exit code says so. */
  readonly insisted: boolean;
  /** What a run that has to be left is left with: `cancelled` until its result is written, and then what agrees with that. */
  exitCode: number;
  /** The run is over and the process about to end: no signal changes anything any more, and none ends it in another way. */
  settle(): void;
}

/** First signal: stop the run, which then ends in its own way. Second Ctrl-C, or a run that does not end: leave. */
export function watchSignals(exitCode: number): SignalWatch {
  let stay = (): void => {};
  const leave = (code: () => number, afterMs: number): void => {
    stay();
    stay = afterPatience(afterMs, () => process.exit(code()));
  };
  let first: NodeJS.Signals | undefined;
  let insisted = false;
  let settled = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (settled) return;
    if (first && signal === "SIGINT") {
      const isOver = (): boolean => watch.exitCode !== exitCode; // its result says how it ended, and another code would not agree with it
      insisted ||= !isOver();
      return leave(() => (isOver() ? watch.exitCode : exitCodes.killed), lastMomentMs);
    }
    if (first) return;
    first = signal;
    leave(() => watch.exitCode, patienceMs);
    if (watch.stop) watch.stop();
    else rejectEarly(new StoppedEarly(`Stopped by ${signal}`, "signal", signal));
  };
  const signals: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, onSignal);
  let rejectEarly: (reason: StoppedEarly) => void = () => {};
  const early = new Promise<never>((_, reject) => {
    rejectEarly = reject;
  });
  early.catch(() => {}); // the preparation hears it; later nobody needs to
  const watch: SignalWatch = {
    stop: undefined,
    early,
    exitCode,
    get signal() {
      return first;
    },
    get insisted() {
      return insisted;
    },
    settle() {
      stay();
      settled = true;
    },
  };
  return watch;
}
