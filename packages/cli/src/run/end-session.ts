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

/** Longer than hooks at the end of a session may take. */
const longestStep = 75_000;

/** After the result nothing can be a second one: what fails now, or never ends, is told, and the other steps are done all the same. */
export async function closeAll(
  warn: (message: string) => void,
  steps: readonly (() => Promise<unknown> | undefined)[],
  limitMs: number = longestStep,
): Promise<void> {
  for (const step of steps) {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`closing took more than ${limitMs / 1000} s and was given up`)), limitMs);
    });
    try {
      await Promise.race([step(), limit]);
    } catch (error) {
      warn(`After the end: ${error instanceof Error ? error.message : error}`);
    } finally {
      clearTimeout(timer);
    }
  }
}
