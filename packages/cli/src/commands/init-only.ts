import { openSession } from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import type { Arguments } from "../flags/args.ts";
import { planRun } from "../request/plan-run.ts";
import { closeAll, endSession } from "../run/end-session.ts";
import { complain } from "../run/say.ts";
import { watchSignals } from "../run/signals.ts";

/** `--init-only`: the hooks of a session's beginning run, and no model is asked. */
export async function runInitOnly({ flags }: Arguments): Promise<number> {
  const signals = watchSignals(exitCodes.cancelled);
  try {
    const plan = await Promise.race([planRun({ ...flags, "no-session-persistence": true }, complain), signals.early]);
    const opened = await openSession(plan, { warn: complain });
    const { session } = opened;
    const stopping = new AbortController();
    signals.stop = () => stopping.abort();
    const told = tell(session.events({ types: ["warning.raised"] }));
    try {
      await (await session.controls()).runBeginning(stopping.signal);
    } finally {
      await closeAll(complain, [() => endSession(session, complain), () => opened.close()]);
      await told;
    }
    return exitCodes.success;
  } finally {
    signals.settle();
    setImmediate(() => process.exit()); // whatever a hook left open
  }
}

/** What a person should know of the hooks. */
async function tell(events: AsyncIterable<{ readonly message: string }>): Promise<void> {
  for await (const { message } of events) complain(message);
}
