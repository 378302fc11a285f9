import { standingEvents } from "../../journal/standing-events.ts";
import type { StoredEvents } from "../../journal/store.ts";
import { toStoredEvents } from "../../journal/stored-events.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { WaitingPrompt } from "./session-turns.ts";

type Accepted = AgentEvent<"prompt.accepted">;

/** Which accepted prompts have begun or were cancelled, and which still wait. */
export type RecoveredPrompts = { readonly over: readonly Accepted[]; readonly waiting: readonly Accepted[] };

/**
 * What has begun stays begun, whatever the session went back to; what came after the place it went back to does not wait any more. A copy of a
 * session does not have the prompts that wait in the original. Pure.
 */
export function recoverPrompts(
  stored: StoredEvents,
  { standing, hasBegun }: { readonly standing: StoredEvents; readonly hasBegun: (turnId: string) => boolean },
): RecoveredPrompts {
  const all = [...stored.of("prompt.accepted")];
  const counted = standing === stored ? all : [...standing.of("prompt.accepted")];
  const joinedOrCancelled = new Set<string | undefined>();
  for (const { taskId, promptId } of stored.of("input.added", "prompt.cancelled"))
    if (taskId === undefined) joinedOrCancelled.add(promptId);
  const isOver = ({ promptId }: Accepted): boolean => hasBegun(promptId) || joinedOrCancelled.has(promptId);
  const [start] = stored.of("session.started");
  const lastCopied = start?.forkedFrom?.seq ?? 0;
  const waiting = counted.filter((event) => !isOver(event) && event.seq > lastCopied);
  const urgent = waiting.filter(({ mode }) => mode === "now").reverse();
  return { over: all.filter(isOver), waiting: [...urgent, ...waiting.filter(({ mode }) => mode !== "now")] };
}

/** What waits in a session that is not open: whoever opens it finds it held. */
export function heldPrompts(events: readonly AgentEvent[]): WaitingPrompt[] {
  const stored = toStoredEvents([...events]);
  const begun = new Set([...stored.of("turn.started")].map(({ turnId }) => turnId));
  const standing = stored.last("session.rewound") ? toStoredEvents(standingEvents(events)) : stored;
  const { waiting } = recoverPrompts(stored, { standing, hasBegun: (turnId) => begun.has(turnId) });
  return waiting.map(({ promptId: id, key, mode, input, displayInput }) => ({
    id,
    key,
    mode,
    input,
    displayInput,
    isHeld: true,
  }));
}
