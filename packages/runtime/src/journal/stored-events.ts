import type { AgentEvent, EventType } from "../protocol/events.ts";
import type { StoredEvents } from "./store.ts";

/** Events that are there already. */
export function toStoredEvents(events: readonly AgentEvent[]): StoredEvents {
  return createStoredEvents(events, (event) => event);
}

/** Events of which only number and type are known before they are looked at. */
export function createStoredEvents<Known extends { readonly seq: number; readonly type: string }>(
  known: readonly Known[],
  eventAt: (known: Known, index: number) => AgentEvent,
): StoredEvents {
  return {
    length: known.length,
    lastSeq: known.at(-1)?.seq ?? 0,
    *[Symbol.iterator]() {
      for (const [index, item] of known.entries()) yield eventAt(item, index);
    },
    *of<T extends EventType>(...types: readonly T[]) {
      const wanted = new Set<string>(types);
      for (const [index, item] of known.entries()) if (wanted.has(item.type)) yield eventAt(item, index) as AgentEvent<T>; // by its type
    },
    last<T extends EventType>(type: T, isWanted: (event: AgentEvent<T>) => boolean = () => true) {
      for (let index = known.length - 1; index >= 0; index--) {
        const item = known[index];
        if (item?.type !== type) continue;
        const event = eventAt(item, index) as AgentEvent<T>; // by its type
        if (isWanted(event)) return event;
      }
      return undefined;
    },
  };
}
