import type { AgentEvent, EventBody, EventEnvelope } from "../protocol/events.ts";
import type { StoredEvents } from "./store.ts";
import { toStoredEvents } from "./stored-events.ts";

type NumberedEvent = EventBody & Partial<Pick<EventEnvelope, "seq">>;

/**
 * A session as it stands: without what came after a place it went back to. The journal keeps that, and it can be gone back to as well: what
 * counts at a place is what counted when it was written. A name stays, since it belongs to the session and not to what was said in it.
 */
export function standingEvents<Event extends NumberedEvent>(events: Iterable<Event>): Event[] {
  const all = [...events];
  const standing: Event[] = [];
  let last = Number.POSITIVE_INFINITY;
  for (const event of all.reverse()) {
    const isLeftBehind = (event.seq ?? 0) > last;
    if (isLeftBehind && event.type !== "session.named") continue;
    if (!isLeftBehind && event.type === "session.rewound") last = event.to;
    standing.push(event);
  }
  return standing.reverse();
}

/** The same for a journal that is opened: when it goes back to `at`, as it stood there. Most never went back, and are not looked at. */
export function standingAt(stored: StoredEvents, at: number | undefined): StoredEvents {
  if (at === undefined && !stored.last("session.rewound")) return stored;
  const isKept = (event: AgentEvent): boolean => at === undefined || event.seq <= at || event.type === "session.named";
  return toStoredEvents(standingEvents([...stored].filter(isKept)));
}
