import { exitCodes } from "../exit-codes.ts";
import { duration, spokenDuration } from "../flags/numbers.ts";
import { afterPatience } from "./patience.ts";
import { StoppedEarly } from "./signals.ts";

/** How long a run may take to end by itself after its deadline, which it cannot when nobody reads its output. */
const patienceMs = 1500;

export interface Deadline {
  /** Called when it passes; until it is set, `early` rejects. */
  stop: (() => void) | undefined;
  /** What a run that is still there a moment later ends with: once there is a result, its own code. */
  exitCode: number;
  readonly early: Promise<never>;
  close(): void;
}

/** Runs from this call on: a prompt that never ends counts too. */
export function startDeadline(text: string | undefined): Deadline {
  let close = (): void => {};
  let rejectEarly: (reason: StoppedEarly) => void = () => {};
  const early = new Promise<never>((_, reject) => {
    rejectEarly = reject;
  });
  early.catch(() => {}); // the preparation hears it; later nobody needs to
  const deadline: Deadline = { stop: undefined, exitCode: exitCodes.cancelled, early, close: () => close() };
  const pass = (): void => {
    close = afterPatience(patienceMs, () => process.exit(deadline.exitCode));
    if (deadline.stop) deadline.stop();
    else rejectEarly(new StoppedEarly(`Stopped: ${spokenDuration(text)} have passed (--deadline)`, "deadline"));
  };
  if (text !== undefined) {
    const timer = setTimeout(pass, duration("--deadline", text));
    close = () => clearTimeout(timer);
  }
  return deadline;
}
