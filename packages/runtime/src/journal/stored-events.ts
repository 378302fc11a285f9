import type { AgentEvent, EventType } from "../protocol/events.ts";
import { type ConversationType, conversationTypes } from "./conversation-types.ts";
import type { StoredEvents } from "./store.ts";

/** Events by their place, and what is known of them before they are looked at. */
export interface EventTable {
  readonly length: number;
  typeAt(index: number): string;
  /** It tells of a subagent's work. */
  isOfTask(index: number): boolean;
  /** Of which call it tells. */
  callIdAt(index: number): string | undefined;
  /** The events at these places, in this order. */
  look(indexes: readonly number[]): readonly AgentEvent[];
}

/** Events that are there already. */
export function toStoredEvents(events: readonly AgentEvent[]): StoredEvents {
  return createStoredEvents({
    length: events.length,
    typeAt: (index) => events[index]?.type ?? "",
    isOfTask: (index) => events[index]?.taskId !== undefined,
    callIdAt: (index) => callIdOf(events[index]),
    look: (indexes) => indexes.flatMap((index) => events[index] ?? []),
  });
}

function callIdOf(event: AgentEvent | undefined): string | undefined {
  return event && "callId" in event ? event.callId : undefined;
}

export function createStoredEvents(table: EventTable): StoredEvents {
  const { length } = table;
  const inBatches = function* (indexes: readonly number[]): Iterable<AgentEvent> {
    for (let start = 0; start < indexes.length; start += batchSize) yield* table.look(indexes.slice(start, start + batchSize));
  };
  const chosen = (isWanted: (index: number) => boolean): number[] => {
    const indexes: number[] = [];
    for (let index = 0; index < length; index++) if (isWanted(index)) indexes.push(index);
    return indexes;
  };
  // What is looked at was chosen by its type.
  return {
    length,
    lastSeq: length === 0 ? 0 : (table.look([length - 1])[0]?.seq ?? 0),
    [Symbol.iterator]: () => inBatches(chosen(() => true))[Symbol.iterator](),
    of<T extends EventType>(...types: readonly T[]) {
      const wanted = new Set<string>(types);
      return inBatches(chosen((index) => wanted.has(table.typeAt(index)))) as Iterable<AgentEvent<T>>;
    },
    conversation() {
      const ended = endedStarts(table);
      const isWanted = (index: number): boolean => types.has(table.typeAt(index)) && !table.isOfTask(index) && !ended.has(index);
      return inBatches(chosen(isWanted)) as Iterable<AgentEvent<ConversationType>>;
    },
    last<T extends EventType>(type: T, isWanted: (event: AgentEvent<T>) => boolean = () => true) {
      for (let index = length - 1; index >= 0; index--) {
        if (table.typeAt(index) !== type) continue;
        const [event] = table.look([index]) as readonly AgentEvent<T>[];
        if (event && isWanted(event)) return event;
      }
      return undefined;
    },
  };
}

const batchSize = 256;
const types: ReadonlySet<string> = new Set(conversationTypes);

/** Starts of calls that have ended. A name may come again: an end is that of the last start before it. */
function endedStarts(table: EventTable): Set<number> {
  const open = new Map<string, number>();
  const ended = new Set<number>();
  for (let index = 0; index < table.length; index++) {
    const type = table.typeAt(index);
    if (type !== "tool.started" && type !== "tool.ended") continue;
    const callId = table.callIdAt(index);
    if (callId === undefined) continue;
    if (type === "tool.started") open.set(callId, index);
    const start = type === "tool.ended" ? open.get(callId) : undefined;
    if (start === undefined) continue;
    ended.add(start);
    open.delete(callId);
  }
  return ended;
}
