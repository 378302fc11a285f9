import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";

export type EventTailOptions = {
  /** The number of the last event that was stored before the tail follows the session. */
  readonly from: number;
  /** About so many bytes of events are held. */
  readonly maxBytes: number;
  /** All stored events with a higher number, oldest first. */
  readonly read: (after: number) => Promise<readonly AgentEvent[]>;
};

/**
 * The latest stored events of a session, for readers that begin in the past: the log is read once for all of them. What is older than
 * the tail holds is read again each time, and those who ask at the same time share that.
 */
export class EventTail {
  readonly #options: EventTailOptions;
  #events: AgentEvent[] = [];
  #weights: number[] = [];
  #bytes = 0;
  /** All stored events with a higher number are held. */
  #from: number;
  #reading: { readonly after: number; readonly events: Promise<readonly AgentEvent[]> } | undefined;

  constructor(options: EventTailOptions) {
    this.#options = options;
    this.#from = options.from;
  }

  /** The next event that was stored. */
  add(event: AgentEvent): void {
    const weight = weigh(event);
    this.#events.push(event);
    this.#weights.push(weight);
    this.#bytes += weight;
    this.#trim();
  }

  /** All that is stored with a higher number, up to this moment at least. */
  async since(seq: number): Promise<readonly AgentEvent[]> {
    const found: AgentEvent[] = [];
    let last = seq;
    while (last < this.#from) {
      const events = later(await this.#read(last), last);
      const end = events.at(-1);
      if (!end) break; // the store has lost what it had
      for (const event of events) found.push(event);
      last = end.seq;
    }
    const held = later(this.#events, last);
    return found.length === 0 ? held : [...found, ...held];
  }

  #read(after: number): Promise<readonly AgentEvent[]> {
    if (this.#reading && this.#reading.after <= after) return this.#reading.events;
    const events = this.#options.read(after).then((read) => {
      this.#hold(read, after);
      return read;
    });
    const reading = { after, events };
    this.#reading = reading;
    const forget = (): void => {
      if (this.#reading === reading) this.#reading = undefined;
    };
    events.then(forget, forget);
    return events;
  }

  /** In front of the events that are held, as many as fit. */
  #hold(read: readonly AgentEvent[], after: number): void {
    if ((read.at(-1)?.seq ?? 0) < this.#from) return; // so much came meanwhile that there is a gap
    const older: AgentEvent[] = [];
    const weights: number[] = [];
    let from = Math.min(after, this.#from);
    for (const event of read.toReversed()) {
      if (event.seq > this.#from) continue;
      const weight = weigh(event);
      if (this.#bytes + weight > this.#options.maxBytes) {
        from = event.seq;
        break;
      }
      this.#bytes += weight;
      older.push(event);
      weights.push(weight);
    }
    this.#events = [...older.reverse(), ...this.#events];
    this.#weights = [...weights.reverse(), ...this.#weights];
    this.#from = from;
  }

  /** Down to three quarters: cutting a long list costs its length, so it is cut seldom. */
  #trim(): void {
    const { maxBytes } = this.#options;
    if (this.#bytes <= maxBytes) return;
    let count = 0;
    while (this.#bytes > maxBytes * 0.75 && count < this.#events.length) this.#bytes -= this.#weights[count++] ?? 0;
    this.#from = this.#events[count - 1]?.seq ?? this.#from;
    this.#events = this.#events.slice(count);
    this.#weights = this.#weights.slice(count);
  }
}

/**
 * Refuses a place behind the last event. Such a reader would wait for events that were told already, under lower numbers: what is not stored
 * is counted anew by the next process.
 */
export function checkPlace(after: number, seq: number): void {
  if (after <= seq) return;
  throw new RuntimeError("usage", `There is no event ${after} to go on after: the last one of this session is ${seq}`, {
    hint: "Only numbers of stored events hold in another process: go on after the last of these (storedSeq)",
  });
}

/** Those with a higher number; the list is in order. */
function later(events: readonly AgentEvent[], seq: number): readonly AgentEvent[] {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return events.slice(low);
}

/** About the bytes that a value takes; texts are what makes events long. */
function weigh(value: unknown): number {
  if (typeof value === "string") return value.length + 16;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 32;
  for (const part of Object.values(value)) sum += weigh(part);
  return sum;
}
