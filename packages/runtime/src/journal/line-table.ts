import type { AgentEvent } from "../protocol/events.ts";
import { mentionsReferences } from "./large-values.ts";
import { isMereRepetition, type KnownStart, likeOf, restoreStart } from "./repeated-starts.ts";
import { jsonOf, seqOf, type StoredLine, toEvents } from "./sealed-line.ts";
import { CallEnds, type EventTable } from "./stored-events.ts";

/**
 * The proven lines of a log, in columns. A long log has very many lines, few of them are ever looked at, and an object for each would take
 * longer to make than its checksum.
 */
export class LineTable implements EventTable {
  readonly #bytes: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #types: string[] = [];
  readonly #headEnds: number[] = [];
  /** Lines that tell of a subagent's work. */
  readonly #ofTasks = new Set<number>();
  readonly #calls = new CallEnds();
  /** Lines whose long texts were put back: they are parsed already. */
  readonly #whole = new Map<number, AgentEvent>();

  readonly #startEvents = new Map<number, AgentEvent>();

  get length(): number {
    return this.#types.length;
  }

  add({ bytes, start, end, type, isOfTask, headEnd, callId }: StoredLine): void {
    if (isOfTask) this.#ofTasks.add(this.#types.length);
    if (callId !== undefined) this.#calls.follow(type, callId, this.#types.length);
    this.#bytes.push(bytes);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#types.push(type);
    this.#headEnds.push(headEnd);
  }

  seqAt(index: number): number {
    const line = this.lineAt(index);
    return line ? seqOf(line) : 0;
  }

  /** How many stand before the first event with a higher number. */
  countUpTo(seq: number): number {
    for (let index = 0; index < this.length; index++) if (this.seqAt(index) > seq) return index;
    return this.length;
  }

  typeAt(index: number): string {
    return this.#types[index] ?? "";
  }

  isOfTask(index: number): boolean {
    return this.#ofTasks.has(index);
  }

  get endedStarts(): ReadonlyMap<number, number> {
    return this.#calls.endedStarts;
  }

  /** No line is added any more. */
  settle(): void {
    this.#calls.settle();
  }

  /** For the same lines in a copy of another log. */
  takeCallEnds(from: LineTable): void {
    for (const [start, end] of from.endedStarts) if (end < this.length) this.#calls.endedStarts.set(start, end);
  }

  look(indexes: readonly number[]): readonly AgentEvent[] {
    const events = toEvents(indexes.map((index) => this.#json(index)));
    const whole = this.#whole.size === 0 ? events : events.map((event, place) => this.#whole.get(indexes[place] ?? -1) ?? event);
    return whole.some(isShort) ? whole.map((event) => this.#restore(event)) : whole;
  }

  /** What a later start may be like: undefined before the first. */
  lastStart(): KnownStart | undefined {
    for (let index = this.length - 1; index >= 0; index--) {
      if (this.typeAt(index) !== "session.started") continue;
      const stored = this.#storedAt(index);
      const event = stored && this.#restore(stored);
      if (stored && event?.type === "session.started")
        return { event, like: (isMereRepetition(stored) ? likeOf(stored) : undefined) ?? stored.seq };
    }
    return undefined;
  }

  #restore(stored: AgentEvent): AgentEvent {
    const like = likeOf(stored);
    if (stored.type !== "session.started" || like === undefined) return stored;
    const known = this.#startEvents.get(like) ?? this.#findStart(like);
    return restoreStart(stored, known);
  }

  /** Each is looked for once: many may be like it. A start is only ever like an earlier one. */
  #findStart(seq: number): AgentEvent | undefined {
    for (let index = 0; index < this.length; index++) {
      if (this.typeAt(index) !== "session.started" || this.seqAt(index) !== seq) continue;
      const stored = this.#storedAt(index);
      const like = stored && likeOf(stored);
      const event = stored && (like === undefined || like < seq) ? this.#restore(stored) : undefined;
      if (event) this.#startEvents.set(seq, event);
      return event;
    }
    return undefined;
  }

  #storedAt(index: number): AgentEvent | undefined {
    return this.#whole.get(index) ?? toEvents([this.#json(index)])[0];
  }

  #json(index: number): string {
    const bytes = this.#bytes[index] ?? nothing;
    return jsonOf({ bytes, start: this.#starts[index] ?? 0, end: this.#ends[index] ?? 0 });
  }

  lineAt(index: number): StoredLine | undefined {
    const bytes = this.#bytes[index];
    if (!bytes) return undefined;
    return {
      bytes,
      start: this.#starts[index] ?? 0,
      end: this.#ends[index] ?? 0,
      type: this.typeAt(index),
      isOfTask: this.isOfTask(index),
      headEnd: this.#headEnds[index] ?? 0,
      callId: undefined, // it was followed when the line was added
    };
  }

  /** Which lines hold references to side files, or what looks like one. One look at the bytes that lines share: mostly they hold none. */
  referring(): number[] {
    const found: number[] = [];
    let looked: Buffer | undefined;
    let mentions = false;
    for (const [index, bytes] of this.#bytes.entries()) {
      if (bytes !== looked) mentions = mentionsReferences(bytes);
      looked = bytes;
      if (mentions && mentionsReferences(bytes.subarray(this.#starts[index], this.#ends[index]))) found.push(index);
    }
    return found;
  }

  /** From here on the line is looked at as this event. */
  putWhole(index: number, event: AgentEvent): void {
    this.#whole.set(index, event);
  }
}

const nothing = Buffer.alloc(0);

function isShort(event: AgentEvent): boolean {
  return event.type === "session.started" && likeOf(event) !== undefined;
}
