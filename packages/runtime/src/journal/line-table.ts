import type { AgentEvent } from "../protocol/events.ts";
import { mentionsReferences } from "./large-values.ts";
import { isMereRepetition, type KnownStart, likeOf, restoreStart } from "./repeated-starts.ts";
import type { KeptConversation } from "./store.ts";
import { sealLength } from "./seal-lines.ts";
import { jsonOf, nameOf, seqOf, type StoredLine, toEvents } from "./sealed-line.ts";
import { CallEnds, type EventTable } from "./stored-events.ts";

/** Lines that stand one behind the other at the beginning of a log. */
export type LineColumns = {
  /** Where the JSON of each line ends; it begins behind the seal of the one before. */
  readonly ends: Iterable<number> & ArrayLike<number>;
  readonly headEnds: Iterable<number> & ArrayLike<number>;
  readonly types: readonly string[];
  readonly ofTasks: readonly number[];
  readonly endedStarts: readonly (readonly [number, number])[];
  /** Calls that have started and not ended. */
  readonly openCalls: readonly (readonly [string, number])[];
  /** Lines that hold references to side files, or what looks like one. */
  readonly referring: readonly number[];
  readonly kept: (() => KeptConversation | undefined) | undefined;
};

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

  #adopted: { readonly count: number; readonly referring: readonly number[] } = { count: 0, referring: [] };
  #kept: LineColumns["kept"];

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

  /** Instead of adding them one by one; the table is empty before. */
  adopt(bytes: Buffer, { ends, headEnds, types, ofTasks, endedStarts, openCalls, referring, kept }: LineColumns): void {
    let start = 0;
    for (let index = 0; index < types.length; index++) {
      const end = ends[index] ?? 0;
      this.#bytes.push(bytes);
      this.#starts.push(start);
      this.#ends.push(end);
      this.#types.push(nameOf(types[index] ?? ""));
      this.#headEnds.push(headEnds[index] ?? 0);
      start = end + sealLength + 1;
    }
    for (const index of ofTasks) this.#ofTasks.add(index);
    this.#calls.adopt(endedStarts, openCalls);
    this.#adopted = { count: types.length, referring };
    this.#kept = kept;
  }

  /** What was found out of the first lines before. */
  kept(): KeptConversation | undefined {
    return this.#kept?.();
  }

  /** What `adopt` takes, before `settle`. Undefined where the lines are not pieces of one buffer. */
  columns(): LineColumns | undefined {
    const [first] = this.#bytes;
    if (!first || this.#bytes.some(({ buffer }) => buffer !== first.buffer)) return undefined;
    const places = this.#bytes.map(({ byteOffset }) => byteOffset - first.byteOffset);
    return {
      ends: this.#ends.map((end, index) => end + (places[index] ?? 0)),
      headEnds: this.#headEnds.map((end, index) => (end === 0 ? 0 : end + (places[index] ?? 0))),
      types: this.#types,
      ofTasks: [...this.#ofTasks],
      endedStarts: [...this.#calls.endedStarts],
      openCalls: this.#calls.open(),
      referring: this.referring(),
      kept: undefined,
    };
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
  takeFindings(from: LineTable): void {
    for (const [start, end] of from.endedStarts) if (end < this.length) this.#calls.endedStarts.set(start, end);
    if (from.#adopted.count <= this.length) this.#kept = from.#kept;
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
    const { count, referring } = this.#adopted;
    const found = [...referring];
    let looked: Buffer | undefined;
    let mentions = false;
    for (let index = count; index < this.length; index++) {
      const bytes = this.#bytes[index] ?? nothing;
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
