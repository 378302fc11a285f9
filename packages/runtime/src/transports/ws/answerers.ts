import type { InteractiveSession } from "../../session/interactive-session.ts";

type Session = InteractiveSession<unknown>;

/** Who is connected to a session and may answer its questions. */
type Answerers = { count: number; stopDenying: (() => void) | undefined };

const answerersOf = new WeakMap<Session, Answerers>();

const nobodyLeft = "Nobody is connected any more who could say yes.";

/**
 * Somebody came who may answer. The function that is returned says that they left: with the last one all open questions are answered with no, and
 * so are those of turns that still run, until somebody comes again.
 */
export function joinAnswerers(session: Session): () => void {
  const answerers = answerersOf.get(session) ?? { count: 0, stopDenying: undefined };
  answerersOf.set(session, answerers);
  answerers.count++;
  answerers.stopDenying?.();
  answerers.stopDenying = undefined;
  let isIn = true;
  return () => {
    if (!isIn) return;
    isIn = false;
    answerers.count--;
    if (answerers.count > 0) return;
    for (const { requestId } of session.openPermissions()) deny(session, requestId);
    answerers.stopDenying = denyWhileBusy(session);
  };
}

/** Listens as long as something runs or waits, and leaves nothing behind. */
function denyWhileBusy(session: Session): (() => void) | undefined {
  const isBusy = (): boolean => session.isExecuting() || session.inbox.length > 0;
  if (!isBusy()) return undefined;
  const onQuestion = ({ requestId }: { requestId: string }): void => deny(session, requestId);
  const onEnd = (): void => queueMicrotask(() => queueMicrotask(() => !isBusy() && stop())); // the next prompt begins in between
  const stop = (): void => {
    session.off("permission_request", onQuestion);
    session.off("complete", onEnd).off("interrupted", onEnd).off("error", onEnd);
  };
  session.on("permission_request", onQuestion);
  session.on("complete", onEnd).on("interrupted", onEnd).on("error", onEnd);
  return stop;
}

function deny(session: Session, requestId: string): void {
  try {
    session.answerPermission(requestId, { decision: "deny", message: nobodyLeft });
  } catch {
    // It was answered or aborted in the meantime.
  }
}
