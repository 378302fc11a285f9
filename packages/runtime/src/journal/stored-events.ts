import type { AgentEvent, EventType } from "../protocol/events.ts";
import { type ConversationType, conversationTypes } from "./conversation-types.ts";
import type { StoredEvents } from "./store.ts";

/** Events that are there already. */
export function toStoredEvents(events: readonly AgentEvent[]): StoredEvents {
  return createStoredEvents(events, (looked) => looked);
}

/** What is known of an event before it is looked at. */
export type KnownEvent = {
  readonly seq: number;
  readonly type: string;
  /** Of which subagent it tells, and of which call. */
  readonly taskId?: string | undefined;
  readonly callId?: string | undefined;
};

/** `look` answers the events behind what is known of them, in its order. */
export function createStoredEvents<Known extends KnownEvent>(
  known: readonly Known[],
  look: (known: readonly Known[]) => readonly AgentEvent[],
): StoredEvents {
  const all = (): Iterable<AgentEvent> => inBatches(known, look);
  // What is looked at was chosen by its type.
  return {
    length: known.length,
    lastSeq: known.at(-1)?.seq ?? 0,
    [Symbol.iterator]: () => all()[Symbol.iterator](),
    of<T extends EventType>(...types: readonly T[]) {
      const wanted = new Set<string>(types);
      const chosen = known.filter(({ type }) => wanted.has(type));
      return inBatches(chosen, look) as Iterable<AgentEvent<T>>;
    },
    conversation() {
      const wanted = new Set<string>(conversationTypes);
      const ended = endedStarts(known);
      const chosen = known.filter((one) => one.taskId === undefined && wanted.has(one.type) && !ended.has(one));
      return inBatches(chosen, look) as Iterable<AgentEvent<ConversationType>>;
    },
    last<T extends EventType>(type: T, isWanted: (event: AgentEvent<T>) => boolean = () => true) {
      for (let index = known.length - 1; index >= 0; index--) {
        const one = known[index];
        if (one?.type !== type) continue;
        const [event] = look([one]) as readonly AgentEvent<T>[];
        if (event && isWanted(event)) return event;
      }
      return undefined;
    },
  };
}

const batchSize = 256;

function* inBatches<Known>(
  known: readonly Known[],
  look: (known: readonly Known[]) => readonly AgentEvent[],
): Iterable<AgentEvent> {
  for (let start = 0; start < known.length; start += batchSize) yield* look(known.slice(start, start + batchSize));
}

/** Starts of calls that have ended. A name may come again: an end is that of the last start before it. */
function endedStarts<Known extends KnownEvent>(known: readonly Known[]): Set<Known> {
  const open = new Map<string, Known>();
  const ended = new Set<Known>();
  for (const one of known) {
    const { type, callId } = one;
    if (callId === undefined) continue;
    if (type === "tool.started") open.set(callId, one);
    if (type !== "tool.ended") continue;
    const start = open.get(callId);
    if (start) ended.add(start);
    open.delete(callId);
  }
  return ended;
}
