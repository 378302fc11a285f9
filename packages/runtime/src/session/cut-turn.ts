import type { StoredEvents } from "../journal/store.ts";
import { addUsage, noUsage } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";

/** The end of a turn that a process has left without one because it was killed; undefined when the last turn has its end. Pure. */
export function endOfCutTurn(events: StoredEvents, at: string): AgentEvent<"turn.ended"> | undefined {
  const isOwn = ({ taskId }: { readonly taskId?: string | undefined }): boolean => taskId === undefined;
  const begun = events.last("turn.started", isOwn);
  if (begun?.turnId === undefined || events.last("turn.ended", isOwn)?.turnId === begun.turnId) return undefined;
  const { turnId, sessionId } = begun;
  const calls = [...events.of("message.ended")].filter((event) => isOwn(event) && event.turnId === turnId);
  const [start] = events.of("session.started");
  const isCopied = begun.seq <= (start?.forkedFrom?.seq ?? 0);
  const message = isCopied
    ? "The session was copied in the middle of this turn; it does not go on here"
    : "The process ended during the turn of this prompt; the prompt is not run again";
  return {
    ...{ type: "turn.ended", seq: events.lastSeq + 1, at, sessionId, turnId },
    outcome: { type: "failed", error: new RuntimeError("closed", message).toJSON(), text: "" },
    usage: calls.reduce((sum, call) => addUsage(sum, call.message.usage), { ...noUsage }),
    modelCalls: calls.length,
    durationMs: 0,
    modelDurationMs: 0,
  };
}
