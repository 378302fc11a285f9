import type { SessionStore } from "../../journal/store.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { type RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { type AgentEvent, isEphemeral } from "../../protocol/events.ts";
import { toSafeJson } from "../../util/jsonl.ts";

/** An event on its way to those who watch: written out once, however many they are. */
export class ToldEvent {
  readonly event: AgentEvent;
  readonly isStored: boolean;
  #json: string | undefined;

  constructor(event: AgentEvent) {
    this.event = event;
    this.isStored = !isEphemeral(event.type);
  }

  get json(): string {
    this.#json ??= toSafeJson(this.event);
    return this.#json;
  }

  /** As server-sent events have it. Only what is stored has an id: that is what a browser comes back with. */
  get frame(): string {
    return this.isStored ? `id: ${this.event.seq}\ndata: ${this.json}\n\n` : `data: ${this.json}\n\n`;
  }
}

/** What happened in one moment, as bytes that all who want all of it share. */
export class ToldBatch {
  readonly all: readonly ToldEvent[];
  #bytes: Buffer | undefined;

  constructor(all: readonly ToldEvent[]) {
    this.all = all;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.all.map(({ frame }) => frame).join(""));
    return this.#bytes;
  }
}

/** Somebody who watches a session. */
export interface Watcher {
  /** Resolves when it can take more; waited for while the past is told, never for what happens now. */
  tell(told: ToldEvent): Promise<void> | undefined;
  /** The same for all of a moment. */
  tellAll(batch: ToldBatch): void;
  /** Where it stood is not known here, or too long ago: it begins anew, from what the session is now. */
  resync(): Promise<number>;
  /** Nothing more comes. */
  end(reason: RuntimeError): void;
}

type Watching = { readonly watcher: Watcher; last: number; isLive: boolean; isBehind: boolean };

export type ChannelOptions = {
  readonly id: string;
  readonly store: Pick<SessionStore, "read">;
  /** Whoever missed more than this many stored events begins anew. */
  readonly maxReplay: number;
};

/** How many events of one session may wait for being handed out; they do so at once. */
const capacity = 100_000;

/**
 * All who watch one session, whether it is open or not. It is read once for all of them. Whoever comes with a position gets what is stored
 * since then, in order and once, and then what happens.
 */
export class SessionChannel {
  readonly #options: ChannelOptions;
  readonly #watching = new Set<Watching>();
  #moment: ToldEvent[] = [];
  #handing: NodeJS.Immediate | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#watching.size;
  }

  /**
   * Hands out what happens until the session is closed; `onEvent` hears it first. Whoever watched before it was opened also gets what opening it
   * has put on record.
   */
  async follow(session: InteractiveSession, onEvent: (event: AgentEvent) => void): Promise<void> {
    let after = this.#watching.size > 0 ? Math.min(...[...this.#watching].map(({ last }) => last)) : undefined;
    for (;;) {
      try {
        for await (const event of session.events({ capacity, after })) {
          if (!isEphemeral(event.type)) after = event.seq;
          onEvent(event);
          if (this.#watching.size > 0) this.#gather(new ToldEvent(event));
        }
        this.#hand();
        return;
      } catch (error) {
        const failure = toRuntimeError(error);
        if (failure.code === "subscriber-overflow") continue;
        this.end(failure); // the store failed: every watcher hears it
        return;
      }
    }
  }

  /** From a position, or from now on, when `now` was the last stored event. Rejects when the past cannot be read. */
  async add(
    watcher: Watcher,
    { after, now, signal }: { readonly after: number | undefined; readonly now: number; readonly signal: AbortSignal },
  ): Promise<void> {
    if (signal.aborted) return;
    const watching: Watching = { watcher, last: after ?? now, isLive: after === undefined, isBehind: false };
    this.#watching.add(watching);
    const leave = (): void => void this.#watching.delete(watching);
    signal.addEventListener("abort", leave, { once: true });
    try {
      if (after !== undefined) await this.#catchUp(watching, after, signal);
    } catch (error) {
      leave();
      throw error;
    }
  }

  end(reason: RuntimeError): void {
    this.#hand();
    const all = [...this.#watching];
    this.#watching.clear();
    for (const { watcher } of all) watcher.end(reason);
  }

  /** All of one tick is handed out together: it is written out once, and each watcher is written to once. */
  #gather(told: ToldEvent): void {
    this.#moment.push(told);
    this.#handing ??= setImmediate(() => this.#hand());
  }

  #hand(): void {
    if (this.#handing) clearImmediate(this.#handing);
    this.#handing = undefined;
    const all = this.#moment;
    const [first] = all;
    if (!first) return;
    this.#moment = [];
    const batch = new ToldBatch(all);
    const last = all.findLast(({ isStored }) => isStored)?.event.seq;
    for (const watching of this.#watching) {
      if (!watching.isLive) {
        if (last !== undefined && last > watching.last) watching.isBehind = true;
        continue;
      }
      const news = first.event.seq > watching.last ? batch : new ToldBatch(all.filter(({ event }) => event.seq > watching.last));
      if (last !== undefined && last > watching.last) watching.last = last;
      if (news.all.length > 0) watching.watcher.tellAll(news);
    }
  }

  async #catchUp(watching: Watching, after: number, signal: AbortSignal): Promise<void> {
    const { id, store, maxReplay } = this.#options;
    // With the event it has: a number that is not there, and none after it, is of another session or of what was lost.
    let events = await store.read(id, { after: Math.max(0, after - 1) });
    if ((after > 0 && events.length === 0) || events.length > maxReplay) {
      watching.isBehind = false;
      watching.last = await watching.watcher.resync();
      events = await store.read(id, { after: watching.last });
    }
    while (!signal.aborted) {
      for (const event of events) {
        if (event.seq <= watching.last) continue;
        watching.last = event.seq;
        await watching.watcher.tell(new ToldEvent(event));
        if (signal.aborted) return;
      }
      if (!watching.isBehind) {
        watching.isLive = true;
        return;
      }
      watching.isBehind = false;
      events = await store.read(id, { after: watching.last });
    }
  }
}
