import { exitCodes } from "../../exit-codes.ts";
import { complain } from "../../run/say.ts";

/** Aborted by the first signal that wants the process to end; the second one ends it. */
export function untilSignal(words: string): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(exitCodes.killed);
      complain(words);
      stopping.abort();
    });
  return stopping.signal;
}
