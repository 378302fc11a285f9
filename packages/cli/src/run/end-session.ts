import type { InteractiveSession } from "@outrider/runtime";

/** Shuts a session down whose result is written; what it still has to say, such as what it stopped, goes to `warn`. */
export async function endSession(session: InteractiveSession, warn: (message: string) => void): Promise<void> {
  const events = session.events({ types: ["warning.raised"] });
  await session.shutdown();
  try {
    for await (const { message } of events) warn(message);
  } catch {
    return; // a session whose journal failed has said so in its result
  }
}

/** After the result nothing can be a second one: what fails now is told, and the other steps are done all the same. */
export async function closeAll(
  warn: (message: string) => void,
  steps: readonly (() => Promise<unknown> | undefined)[],
): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      warn(`After the end: ${error instanceof Error ? error.message : error}`);
    }
  }
}
