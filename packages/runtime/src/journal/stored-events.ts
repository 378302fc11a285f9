import type { AgentEvent, EventType } from "../protocol/events.ts";
import { type ConversationType, conversationTypes } from "./conversation-types.ts";
import type { KeptConversation, StoredEvents } from "./store.ts";

/** Events by their place, and what is known of them before they are looked at. */
export interface EventTable {
  readonly length: number;
  typeAt(index: number): string;
  /** It tells of a subagent's work. */
  isOfTask(index: number): boolean;
  /** The starts of calls that have ended, and the places of the ends. */
  readonly endedStarts: ReadonlyMap<number, number>;
  /** The conversation of the first events, where it is known already. */
  kept?(): KeptConversation | undefined;
  /** Its number, where that can be told without a look at the event. */
  seqAt?(index: number): number;
  /** The events at these places, in this order. */
  look(indexes: readonly number[]): readonly AgentEvent[];
}

/** Events that are there already. */
export function toStoredEvents(events: readonly AgentEvent[]): StoredEvents {
  return createStoredEvents({
    length: events.length,
    typeAt: (index) => events[index]?.type ?? "",
    isOfTask: (index) => events[index]?.taskId !== undefined,
    endedStarts: endedStarts(events),
    look: (indexes) => indexes.flatMap((index) => events[index] ?? []),
  });
}

function endedStarts(events: readonly AgentEvent[]): ReadonlyMap<number, number> {
  const calls = new CallEnds();
  for (const [index, event] of events.entries())
    if (event.type === "tool.started" || event.type === "tool.ended") calls.follow(event.type, event.callId, index);
  return calls.endedStarts;
}

/** Tells which starts of calls have ended. A name may come again: an end is that of the last start before it. */
export class CallEnds {
  readonly endedStarts: Map<number, number> = new Map();
  readonly #open = new Map<string, number>();

  follow(type: string, callId: string, index: number): void {
    const start = this.#open.get(callId);
    if (type === "tool.started") this.#open.set(callId, index);
    if (type !== "tool.ended" || start === undefined) return;
    this.endedStarts.set(start, index);
    this.#open.delete(callId);
  }

  /** Calls that have started and not ended. */
  open(): [string, number][] {
    return [...this.#open];
  }

  adopt(ended: Iterable<readonly [number, number]>, open: Iterable<readonly [string, number]>): void {
    for (const [start, end] of ended) this.endedStarts.set(start, end);
    for (const [callId, start] of open) this.#open.set(callId, start);
  }

  /** Nothing more comes. The names are pieces of the log's text and would hold all of it. */
  settle(): void {
    this.#open.clear();
  }
}

export function createStoredEvents(table: EventTable): StoredEvents {
  const { length } = table;
  const inBatches = function* (indexes: readonly number[]): Iterable<AgentEvent> {
    for (let start = 0; start < indexes.length; start += batchSize) yield* table.look(indexes.slice(start, start + batchSize));
  };
  const chosen = (isWanted: (index: number) => boolean, from = 0): number[] => {
    const indexes: number[] = [];
    for (let index = from; index < length; index++) if (isWanted(index)) indexes.push(index);
    return indexes;
  };
  let places: ReadonlyMap<string, readonly number[]> | undefined;
  const placesOf = (type: string): readonly number[] => {
    places ??= placesByType(table);
    return places.get(type) ?? [];
  };
  const placesOfAll = (wanted: readonly string[]): readonly number[] =>
    wanted.length === 1 ? placesOf(wanted[0] ?? "") : wanted.flatMap(placesOf).sort((a, b) => a - b);
  // What is looked at was chosen by its type.
  return {
    length,
    lastSeq: length === 0 ? 0 : (table.look([length - 1])[0]?.seq ?? 0),
    [Symbol.iterator]: () => inBatches(chosen(() => true))[Symbol.iterator](),
    of<T extends EventType>(...types: readonly T[]) {
      return inBatches(placesOfAll(types)) as Iterable<AgentEvent<T>>;
    },
    ofAfter<T extends EventType>(seq: number, ...types: readonly T[]) {
      const all = placesOfAll(types);
      let from = all.length;
      while (from > 0 && seqAt(table, all[from - 1] ?? 0) > seq) from--;
      return inBatches(all.slice(from)) as Iterable<AgentEvent<T>>;
    },
    conversation(from = 0) {
      const { endedStarts: ended } = table;
      const isWanted = (index: number): boolean => types.has(table.typeAt(index)) && !table.isOfTask(index) && !ended.has(index);
      return inBatches(chosen(isWanted, from)) as Iterable<AgentEvent<ConversationType>>;
    },
    kept: () => table.kept?.(),
    last<T extends EventType>(type: T, isWanted: (event: AgentEvent<T>) => boolean = () => true) {
      const all = placesOf(type);
      for (let place = all.length - 1; place >= 0; place--) {
        const [event] = table.look([all[place] ?? 0]) as readonly AgentEvent<T>[];
        if (event && isWanted(event)) return event;
      }
      return undefined;
    },
  };
}

function seqAt(table: EventTable, index: number): number {
  return table.seqAt?.(index) ?? table.look([index])[0]?.seq ?? 0;
}

/** Where the events of each type are: a session that is opened asks for many types, and most are rare. */
function placesByType(table: EventTable): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (let index = 0; index < table.length; index++) {
    const type = table.typeAt(index);
    const known = places.get(type);
    if (known) known.push(index);
    else places.set(type, [index]);
  }
  return places;
}

const batchSize = 256;
const types: ReadonlySet<string> = new Set(conversationTypes);
