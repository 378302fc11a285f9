import type { AgentEvent, EventType } from "../protocol/events.ts";
import { type ConversationType, conversationTypes } from "./conversation-types.ts";
import type { StoredEvents } from "./store.ts";

/** Events that are there already. */
export function toStoredEvents(events: readonly AgentEvent[]): StoredEvents {
  return createStoredEvents(events, (event) => event);
}

/** What is known of an event before it is looked at. */
export type KnownEvent = {
  readonly seq: number;
  readonly type: string;
  /** Of which subagent it tells, and of which call. */
  readonly taskId?: string | undefined;
  readonly callId?: string | undefined;
};

export function createStoredEvents<Known extends KnownEvent>(
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
    *conversation() {
      const wanted = new Set<string>(conversationTypes);
      const ended = endedStarts(known);
      for (const [index, item] of known.entries()) {
        if (item.taskId !== undefined || !wanted.has(item.type) || ended.has(index)) continue;
        yield eventAt(item, index) as AgentEvent<ConversationType>; // by its type
      }
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

/** Where calls start that have ended. A name may come again: an end is that of the last start before it. */
function endedStarts(known: readonly KnownEvent[]): Set<number> {
  const open = new Map<string, number>();
  const ended = new Set<number>();
  for (const [index, { type, callId }] of known.entries()) {
    if (callId === undefined) continue;
    if (type === "tool.started") open.set(callId, index);
    if (type !== "tool.ended") continue;
    const start = open.get(callId);
    if (start !== undefined) ended.add(start);
    open.delete(callId);
  }
  return ended;
}
