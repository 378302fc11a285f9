import type { KeptConversation, StoredEvents } from "./store.ts";
import { Transcript } from "./transcript.ts";

/** The whole conversation of a journal, to be kept. Undefined for one that went back to an earlier place: what counts of it is another question. */
export function keepConversation(events: StoredEvents): KeptConversation | undefined {
  if (events.last("session.rewound")) return undefined;
  const transcript = new Transcript();
  const { count, turnIds, compactions } = followConversation(events, transcript);
  return { count, transcript: transcript.state, turnIds, compactions };
}

/** Brings an empty transcript to the end of these events, from what was kept of them where there is something. */
export function followConversation(events: StoredEvents, transcript: Transcript): Omit<KeptConversation, "transcript"> {
  const kept = events.kept?.();
  const turnIds = [...(kept?.turnIds ?? [])];
  const compactions = [...(kept?.compactions ?? [])];
  if (kept) transcript.restore(kept.transcript);
  for (const event of events.conversation(kept?.count)) {
    transcript.apply(event);
    if (event.type === "turn.started" && event.turnId !== undefined) turnIds.push(event.turnId);
    if (event.type === "compaction.ended") compactions.push(event);
  }
  return { count: events.length, turnIds, compactions };
}
