import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { type AgentEvent, type EventBody, type EventType, isEphemeral } from "../../protocol/events.ts";
import type { JournalWriter, SessionStore } from "../../journal/store.ts";
import { AsyncQueue } from "../../util/async-queue.ts";
import type { Masked } from "../../util/masked.ts";
import { createRedactor, type Redactor } from "../../util/redact.ts";
import type { EventTail } from "./event-tail.ts";
import { HeldDeltas, isDelta } from "./held-deltas.ts";

export type EventHubOptions = {
  readonly sessionId: string;
  readonly store: SessionStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called for each event after it is stored and before readers get it; must not throw. */
  readonly onEvent: (event: AgentEvent) => void;
  /** The store failed: nothing more can be recorded, so nothing more may happen. */
  readonly onFault: (error: RuntimeError) => void;
  /** Hides secrets in everything before it is stored or seen; those of the environment when absent. */
  readonly redactor?: Redactor;
};

export type SubscribeOptions<T extends EventType = EventType> = {
  /** Start with the stored events after this seq; without it, with what happens from now on. */
  readonly after?: number | undefined;
  /** Only events of these types. The others are never queued for this reader, so they cannot make it fall behind. */
  readonly types?: readonly T[] | undefined;
  /** `false`: of subagents only when they start and end. A list of task ids: only what these subagents do. All when absent. */
  readonly tasks?: boolean | readonly string[] | undefined;
  /** How many events may wait for this reader; 1,024 when absent. */
  readonly capacity?: number | undefined;
  /** `drop` (default) ends a reader that falls behind; `wait` makes the session wait for it. */
  readonly whenFull?: "drop" | "wait" | undefined;
  /** Ends the reader when it is aborted, also while it waits for the next event. */
  readonly signal?: AbortSignal | undefined;
};

type Wanted = (event: AgentEvent) => boolean;
type Reader = { readonly queue: AsyncQueue<AgentEvent>; readonly waits: boolean; readonly isWanted: Wanted | undefined };
/** Somebody who waits until the event of this number is handed out. */
type Flush = { readonly seq: number; readonly resolve: () => void; readonly reject: (error: RuntimeError) => void };

/** So much of what is stored is held in memory once somebody reads the past of a session. */
const maxTailBytes = 4 * 1024 * 1024;

/**
 * The one stream of a session. Order is fixed here, secrets are hidden here, durable events are stored before anyone sees them,
 * and every reader has its own bounded queue: a slow reader loses its subscription, never the others' events.
 */
export class EventHub {
  readonly #options: EventHubOptions;
  #readers: readonly Reader[] = [];
  #pending: AgentEvent[] = [];
  #draining = false;
  #flushes: Flush[] = [];
  #fault: RuntimeError | undefined;
  #closed = false;
  #journal: JournalWriter | undefined;
  #seq = 0;
  /** The number of the last event that readers got. */
  #handedOut = 0;
  /** The same of the durable ones. */
  #lastDurable = 0;
  #tail: EventTail | undefined;
  #lastTime: number | undefined;
  #lastTimeText = "";
  readonly #redactor: Redactor;
  /** The text that is coming in now: the conversation's, and that of each subagent. They come at the same time and stay apart. */
  readonly #texts = new Map<string | undefined, { readonly deltas: HeldDeltas; readonly turnId: string | undefined }>();

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#redactor = options.redactor ?? createRedactor({ env: process.env });
  }

  /** From here on events can be emitted; subscribing is possible before. */
  attach(journal: JournalWriter): void {
    this.#journal = journal;
    this.#seq = journal.events.lastSeq;
    this.#lastDurable = this.#seq;
    this.#handedOut = this.#seq;
  }

  /** `taskId`: the subagent that did it. */
  emit(body: EventBody, turnId?: string, taskId?: string): void {
    if (this.#fault || this.#closed || !this.#journal) return;
    let text = this.#texts.get(taskId);
    if (text && !text.deltas.continuedBy(body)) {
      this.#texts.delete(taskId);
      const rest = text.deltas.release();
      if (rest) this.#send(rest, text.turnId, taskId);
      text = undefined;
    }
    if (!isDelta(body)) return this.#send(this.#redactor.value(body), turnId, taskId);
    if (!text) {
      text = { deltas: new HeldDeltas(this.#redactor), turnId };
      this.#texts.set(taskId, text);
    }
    const shown = text.deltas.pass(body);
    if (shown) this.#send(shown, turnId, taskId);
  }

  /** The number of the last event. */
  get seq(): number {
    return this.#seq;
  }

  /** The number of the last event that is stored and handed out. */
  get storedSeq(): number {
    return this.#lastDurable;
  }

  /** Resolves when everything emitted so far is stored and handed out; rejects if the store failed before. What comes later is not waited for. */
  async flush(): Promise<void> {
    if (this.#fault) throw this.#fault;
    if (this.#handedOut === this.#seq) return;
    await new Promise<void>((resolve, reject) => this.#flushes.push({ seq: this.#seq, resolve, reject }));
  }

  /** A promise to wait for while a reader that must not lose anything is behind. */
  congestion(): Promise<unknown> | undefined {
    let wait: Promise<unknown> | undefined;
    for (const { queue, waits } of this.#readers) {
      const room = waits ? queue.room() : undefined;
      if (room) wait = wait ? Promise.all([wait, room]) : room;
    }
    return wait;
  }

  /** Listens from this call on, not from the first `next()`: what happens in between is never missed. */
  subscribe<T extends EventType = EventType>(options: SubscribeOptions<T> = {}): AsyncIterable<AgentEvent<T>> {
    const isWanted = toWanted(options);
    const queue: AsyncQueue<AgentEvent> = new AsyncQueue({
      capacity: options.capacity ?? 1024,
      onReturn: () => this.#forget(queue),
    });
    if (this.#fault) queue.end(this.#fault);
    else if (this.#closed || options.signal?.aborted) queue.end();
    else this.#readers = [...this.#readers, { queue, waits: options.whenFull === "wait", isWanted }];
    options.signal?.addEventListener("abort", () => this.#leave(queue), { once: true });
    const events: AsyncIterable<AgentEvent> =
      options.after === undefined ? queue : this.#readFrom(options.after, queue, isWanted);
    return events as AsyncIterable<AgentEvent<T>>; // nothing else is wanted
  }

  /** Does anybody read this event? */
  isRead(event: AgentEvent): boolean {
    return this.#readers.some(({ isWanted }) => !isWanted || isWanted(event));
  }

  /** After this the session is over: readers get the error, later emits are dropped, `flush` rejects. */
  fail(thrown: unknown): void {
    if (this.#fault) return;
    const error = toRuntimeError(thrown);
    this.#fault = error.code === "internal" ? new RuntimeError("storage-failed", error.message, { cause: thrown }) : error;
    this.#pending = [];
    for (const { reject } of this.#flushes.splice(0)) reject(this.#fault);
    this.#endReaders(this.#fault);
    this.#options.onFault(this.#fault);
  }

  /** Readers finish what they have and end. */
  close(): void {
    this.#closed = true;
    this.#endReaders();
  }

  #send(body: Masked<EventBody>, turnId: string | undefined, taskId: string | undefined): void {
    const event = this.#stamp(body, turnId, taskId);
    if (!this.#draining && isEphemeral(event.type)) return this.#deliver(event);
    this.#pending.push(event);
    if (!this.#draining) void this.#drain(); // it tells of its failure itself
  }

  #stamp(body: Masked<EventBody>, turnId: string | undefined, taskId: string | undefined): AgentEvent {
    const seq = ++this.#seq;
    const at = this.#time();
    const { sessionId } = this.#options;
    const place = turnId === undefined ? { seq, at, sessionId } : { seq, at, sessionId, turnId };
    // An envelope and a body of one type make that type's event.
    return Object.assign(taskId === undefined ? place : { ...place, taskId }, body) as AgentEvent;
  }

  /** Thousands of deltas share a millisecond; writing out a date takes longer than all the rest of an event. */
  #time(): string {
    const now = this.#options.now();
    if (now !== this.#lastTime) {
      this.#lastTime = now;
      this.#lastTimeText = new Date(now).toISOString();
    }
    return this.#lastTimeText;
  }

  /** Stored events first, then what has been queueing meanwhile. */
  async *#readFrom(after: number, queue: AsyncQueue<AgentEvent>, isWanted: Wanted | undefined): AsyncGenerator<AgentEvent> {
    let last = after;
    try {
      for (const event of await this.#readPast(after)) {
        last = event.seq;
        if (!isWanted || isWanted(event)) yield event;
      }
      for await (const event of queue) if (event.seq > last) yield event;
    } finally {
      await queue.return();
    }
  }

  async #readPast(after: number): Promise<readonly AgentEvent[]> {
    const { store, sessionId } = this.#options;
    if (!this.#journal) return await store.read(sessionId, { after });
    const { checkPlace, EventTail } = await import("./event-tail.ts");
    checkPlace(after, this.#seq);
    this.#tail ??= new EventTail({
      from: this.#lastDurable,
      maxBytes: maxTailBytes,
      read: (from) => store.read(sessionId, { after: from }),
    });
    return await this.#tail.since(after);
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    try {
      while (this.#pending.length > 0) {
        const batch = this.#pending;
        this.#pending = [];
        const durable = batch.filter((event) => !isEphemeral(event.type));
        if (durable.length > 0) await this.#journal?.append(durable);
        for (const event of batch) this.#deliver(event);
        while ((this.#flushes[0]?.seq ?? Number.POSITIVE_INFINITY) <= this.#handedOut) this.#flushes.shift()?.resolve();
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.#draining = false; // here, not in a later callback: an emit in between would never be drained
    }
  }

  #deliver(event: AgentEvent): void {
    this.#handedOut = event.seq;
    if (!isEphemeral(event.type)) {
      this.#lastDurable = event.seq;
      this.#tail?.add(event);
    }
    this.#options.onEvent(event);
    for (const { queue, waits, isWanted } of this.#readers) {
      if (isWanted && !isWanted(event)) continue;
      if (waits) queue.pushAnyway(event);
      else if (!queue.push(event)) this.#drop(queue);
    }
  }

  #drop(queue: AsyncQueue<AgentEvent>): void {
    this.#forget(queue);
    const message = "This reader fell behind and was dropped; subscribe again with `after` set to the last seq it saw";
    queue.end(new RuntimeError("subscriber-overflow", message, { retryable: true }));
  }

  #leave(queue: AsyncQueue<AgentEvent>): void {
    this.#forget(queue);
    queue.end();
  }

  #endReaders(error?: RuntimeError): void {
    const readers = this.#readers;
    this.#readers = [];
    for (const { queue } of readers) queue.end(error);
  }

  /** A new list each time: the old one may be being walked. */
  #forget(queue: AsyncQueue<AgentEvent>): void {
    this.#readers = this.#readers.filter((reader) => reader.queue !== queue);
  }
}

/** Undefined when all are. */
function toWanted({ types, tasks = true }: SubscribeOptions): Wanted | undefined {
  if (types === undefined && tasks === true) return undefined;
  const wantedTypes = types && new Set<string>(types);
  const wantedTasks = typeof tasks === "object" ? new Set(tasks) : undefined;
  return ({ type, taskId }) => {
    if (wantedTypes && !wantedTypes.has(type)) return false;
    if (wantedTasks) return taskId !== undefined && wantedTasks.has(taskId);
    return tasks === true || taskId === undefined || type === "task.started" || type === "task.ended";
  };
}
