import type { AgentEvent } from "../protocol/events.ts";
import type { CheckedBlocks } from "./checked-blocks.ts";
import { mentionsReferences } from "./large-values.ts";
import { isMereRepetition, type KnownStart, likeOf, restoreStart } from "./repeated-starts.ts";
import type { KeptConversation } from "./store.ts";
import { sealLength } from "./seal-lines.ts";
import { jsonOf, nameOf, seqOf, type StoredLine, toEvents } from "./sealed-line.ts";
import { CallEnds, type EventTable } from "./stored-events.ts";

/** Lines that stand one behind the other at the beginning of a log. */
export type LineColumns = {
  /** Where the JSON of each line ends; it begins behind the seal of the one before. */
  readonly ends: Uint32Array;
  readonly headEnds: Uint32Array;
  /** Of each, as a place in `names`. */
  readonly types: Uint32Array;
  readonly names: readonly string[];
  readonly ofTasks: readonly number[];
  readonly endedStarts: readonly (readonly [number, number])[];
  /** Calls that have started and not ended. */
  readonly openCalls: readonly (readonly [string, number])[];
  /** Lines that hold references to side files, or what looks like one. */
  readonly referring: readonly number[];
  readonly kept: (() => KeptConversation | undefined) | undefined;
};

const noColumns: LineColumns = {
  ...{ ends: new Uint32Array(), headEnds: new Uint32Array(), types: new Uint32Array(), names: [] },
  ...{ ofTasks: [], endedStarts: [], openCalls: [], referring: [], kept: undefined },
};

/**
 * The proven lines of a log, in columns. A long log has very many lines, few of them are ever looked at, and an object for each would take
 * longer to make than its checksum. The first of them may come from a map: of those not even the bytes are held.
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

  /** Lines of a map; the columns above are those behind them. */
  #mapped: LineColumns = noColumns;
  #blocks: CheckedBlocks | undefined;
  #kept: LineColumns["kept"];

  readonly #startEvents = new Map<number, AgentEvent>();

  get length(): number {
    return this.#mapped.ends.length + this.#types.length;
  }

  add({ bytes, start, end, type, isOfTask, headEnd, callId }: StoredLine): void {
    if (isOfTask) this.#ofTasks.add(this.length);
    if (callId !== undefined) this.#calls.follow(type, callId, this.length);
    this.#bytes.push(bytes);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#types.push(type);
    this.#headEnds.push(headEnd);
  }

  /** Instead of adding them one by one; the table is empty before. */
  adopt({ blocks, ...columns }: LineColumns & { readonly blocks: CheckedBlocks }): void {
    this.#mapped = { ...columns, names: columns.names.map(nameOf) };
    this.#blocks = blocks;
    for (const index of columns.ofTasks) this.#ofTasks.add(index);
    this.#calls.adopt(columns.endedStarts, columns.openCalls);
    this.#kept = columns.kept;
  }

  /** What was found out of the first lines before. */
  kept(): KeptConversation | undefined {
    return this.#kept?.();
  }

  /** What `adopt` takes, before `settle`. The lines that were added stand one behind the other from `base` on. */
  columns(base: number): LineColumns {
    const mapped = this.#mapped;
    const names = [...new Set([...mapped.names, ...this.#types])];
    const numbers = new Map(names.map((name, number) => [name, number]));
    return {
      ends: Uint32Array.from([...mapped.ends, ...this.#ends.map((end) => end + base)]),
      headEnds: Uint32Array.from([...mapped.headEnds, ...this.#headEnds.map((end) => (end === 0 ? 0 : end + base))]),
      types: Uint32Array.from([...mapped.types, ...this.#types.map((type) => numbers.get(type) ?? 0)]),
      names,
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

  /** How many stand before the first event with a higher number: numbers only grow. */
  countUpTo(seq: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.seqAt(middle) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  typeAt(index: number): string {
    const { types, names } = this.#mapped;
    return (index < types.length ? names[types[index] ?? 0] : this.#types[index - types.length]) ?? "";
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
    if (from.#mapped.ends.length <= this.length) this.#kept = from.#kept;
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
    const line = this.lineAt(index);
    return line ? jsonOf(line) : "null";
  }

  lineAt(index: number): StoredLine | undefined {
    const place = index - this.#mapped.ends.length;
    if (place < 0) return this.#mappedLineAt(index);
    const bytes = this.#bytes[place];
    if (!bytes) return undefined;
    return {
      bytes,
      start: this.#starts[place] ?? 0,
      end: this.#ends[place] ?? 0,
      type: this.typeAt(index),
      isOfTask: this.isOfTask(index),
      headEnd: this.#headEnds[place] ?? 0,
      callId: undefined, // it was followed when the line was added
    };
  }

  #mappedLineAt(index: number): StoredLine | undefined {
    const { ends, headEnds } = this.#mapped;
    const [end, headEnd] = [ends[index], headEnds[index]];
    if (end === undefined || headEnd === undefined || !this.#blocks) return undefined;
    const start = index === 0 ? 0 : (ends[index - 1] ?? 0) + sealLength + 1;
    const { bytes, begin } = this.#blocks.find(start, end);
    return {
      bytes,
      start: begin,
      end: begin + end - start,
      type: this.typeAt(index),
      isOfTask: this.isOfTask(index),
      headEnd: headEnd === 0 ? 0 : headEnd - start + begin,
      callId: undefined,
    };
  }

  /** Which lines hold references to side files, or what looks like one. One look at the bytes that lines share: mostly they hold none. */
  referring(): number[] {
    const found = [...this.#mapped.referring];
    let looked: Buffer | undefined;
    let mentions = false;
    for (const [place, bytes] of this.#bytes.entries()) {
      if (bytes !== looked) mentions = mentionsReferences(bytes);
      looked = bytes;
      if (mentions && mentionsReferences(bytes.subarray(this.#starts[place], this.#ends[place])))
        found.push(this.#mapped.ends.length + place);
    }
    return found;
  }

  /** From here on the line is looked at as this event. */
  putWhole(index: number, event: AgentEvent): void {
    this.#whole.set(index, event);
  }
}

function isShort(event: AgentEvent): boolean {
  return event.type === "session.started" && likeOf(event) !== undefined;
}
