import type { AgentEvent } from "../protocol/events.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nameSession, noSuchEvent, unknownSession } from "./name-session.ts";
import type { SessionStore } from "./store.ts";
import { toStoredEvents } from "./stored-events.ts";
import { addToSummary, forkEvents, type SummaryDraft } from "./summary.ts";

/** Keeps sessions for as long as the process lives. */
export function createMemoryStore(options: { now?: () => number } = {}): SessionStore {
  const journals = new Map<string, AgentEvent[]>();
  const open = new Set<string>();
  const eventsOf = (sessionId: string): AgentEvent[] => {
    const events = journals.get(sessionId);
    if (!events?.length) throw unknownSession(sessionId);
    return events;
  };
  const store: SessionStore = {
    async open(sessionId) {
      if (open.has(sessionId)) throw locked(sessionId);
      open.add(sessionId);
      const events = journals.get(sessionId) ?? [];
      journals.set(sessionId, events);
      let closed = false;
      return {
        events: toStoredEvents([...events]),
        warnings: [],
        location: undefined,
        async append(batch) {
          if (closed) throw new RuntimeError("closed", `The journal of ${sessionId} is closed`);
          events.push(...structuredClone(batch));
        },
        async close() {
          if (!closed) open.delete(sessionId);
          closed = true;
        },
      };
    },
    async read(sessionId, { after = 0, types } = {}) {
      const events = journals.get(sessionId) ?? [];
      return structuredClone(events.filter((event) => event.seq > after && (!types || types.includes(event.type))));
    },
    async has(sessionId) {
      return (journals.get(sessionId)?.length ?? 0) > 0;
    },
    async list() {
      return [...journals].filter(([, events]) => events.length > 0).map(([sessionId]) => sessionId);
    },
    async summaries() {
      const summaries = [...journals].flatMap(([id, events]) => {
        const draft = events.reduce<SummaryDraft | undefined>((summary, event) => addToSummary(summary, id, event), undefined);
        return draft ? [{ ...draft, bytes: JSON.stringify(events).length }] : [];
      });
      return summaries.sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
    },
    async fork(sourceId, newId, { at } = {}) {
      const all = eventsOf(sourceId);
      const last = all.at(-1)?.seq ?? 0;
      if (at !== undefined && at > last) throw noSuchEvent(sourceId, at, last);
      const events = all.filter((event) => at === undefined || event.seq <= at);
      if (events.length === 0) throw new RuntimeError("usage", `Session ${sourceId} has no event ${at}, nor one before it`);
      if (open.has(newId)) throw locked(newId);
      if (journals.get(newId)?.length) throw new RuntimeError("usage", `Session ${newId} exists already`);
      journals.set(newId, structuredClone(forkEvents(events, sourceId, newId)));
    },
    async rename(sessionId, name) {
      eventsOf(sessionId);
      await nameSession(store, { sessionId, name, now: options.now ?? Date.now });
    },
    async remove(sessionId) {
      eventsOf(sessionId);
      if (open.has(sessionId)) throw locked(sessionId);
      journals.delete(sessionId);
    },
  };
  return store;
}

function locked(sessionId: string): RuntimeError {
  return new RuntimeError("session-locked", `Session ${sessionId} already has a writer in this process`, { retryable: true });
}
