import { RuntimeError } from "../protocol/errors.ts";
import type { SessionStore } from "./store.ts";

/** Gives a session that nobody is writing to a name. */
export async function nameSession(
  store: Pick<SessionStore, "open">,
  { sessionId, name, now }: { sessionId: string; name: string; now: () => number },
): Promise<void> {
  const journal = await store.open(sessionId);
  try {
    const { lastSeq } = journal.events;
    if (lastSeq === 0) throw unknownSession(sessionId);
    await journal.append([{ type: "session.named", seq: lastSeq + 1, at: new Date(now()).toISOString(), sessionId, name }]);
  } finally {
    await journal.close();
  }
}

export function unknownSession(sessionId: string): RuntimeError {
  return new RuntimeError("not-found", `There is no session ${sessionId}`);
}

export function noSuchEvent(sessionId: string, at: number, last: number): RuntimeError {
  return new RuntimeError("not-found", `Session ${sessionId} has no event ${at}, only those up to ${last}`);
}
