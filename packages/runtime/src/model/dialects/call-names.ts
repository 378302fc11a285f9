import type { Message } from "../../protocol/content.ts";

/** The ids of calls in one answer: each is another than those of the conversation before it. */
export class CallNames {
  readonly #earlier: ReadonlySet<string>;
  readonly #own = new Set<string>();

  constructor(messages: readonly Message[]) {
    this.#earlier = callIdsIn(messages);
  }

  /** A call keeps its id unless it has none or shares it with another call; then it gets one that begins with `base`. */
  take(id: string, base: string): string {
    let callId = id || base;
    for (let n = 0; this.#earlier.has(callId) || this.#own.has(callId); n++) callId = n === 0 ? base : `${base}_${n}`;
    this.#own.add(callId);
    return callId;
  }
}

type Looked = { count: number; first: Message | undefined; last: Message | undefined; readonly ids: Set<string> };
const looked = new WeakMap<readonly Message[], Looked>();

/**
 * Asked at every answer with a call, and a turn's list of messages mostly grows: what was looked at is not looked at again. A list that
 * has become another one since is read anew.
 */
function callIdsIn(messages: readonly Message[]): ReadonlySet<string> {
  const before = looked.get(messages);
  const hasGrown = before && messages[0] === before.first && messages[before.count - 1] === before.last;
  const known = hasGrown ? before : { count: 0, first: messages[0], last: undefined, ids: new Set<string>() };
  for (const message of messages.slice(known.count)) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) if (part.type === "tool-call") known.ids.add(part.callId);
  }
  known.count = messages.length;
  known.last = messages.at(-1);
  looked.set(messages, known);
  return known.ids;
}
