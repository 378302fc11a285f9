import type { HeldSession } from "../../hosting/session-host.ts";
import type { SessionStore } from "../../journal/store.ts";
import { type RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { OpenQuestions } from "./open-questions.ts";
import { SessionChannel, type Watcher } from "./session-channel.ts";

export type AudienceOptions = {
  readonly store: SessionStore;
  /** How long a question waits while nobody is connected who may answer. */
  readonly permissionWaitMs: number;
  /** Whoever missed more than this many stored events begins anew. */
  readonly maxReplay: number;
  readonly warn: (line: string) => void;
};

/** A session that is open, with what it waits to be told. */
export type Followed = { readonly session: InteractiveSession; readonly questions: OpenQuestions };

type Watching = { readonly watcher: Watcher; readonly after: number | undefined; readonly signal: AbortSignal };

/** Who hears what happens in each session, and whether anybody is there who may answer what it asks. */
export class Audiences {
  readonly #options: AudienceOptions;
  readonly #channels = new Map<string, SessionChannel>();
  readonly #followed = new Map<string, Followed>();
  /** How many watch each session who may answer its questions. */
  readonly #answerers = new Map<string, number>();

  constructor(options: AudienceOptions) {
    this.#options = options;
  }

  /** Streams of events. */
  get watchers(): number {
    return [...this.#channels.values()].reduce((total, { size }) => total + size, 0);
  }

  /** Those that are open, with their ids. */
  get open(): readonly (readonly [string, Followed])[] {
    return [...this.#followed];
  }

  of(id: string): Followed | undefined {
    return this.#followed.get(id);
  }

  /** From a session's opening to its end, once. */
  follow(held: HeldSession): HeldSession {
    const { id, session } = held;
    if (this.#followed.get(id)?.session === session) return held;
    const questions = new OpenQuestions(session, {
      waitMs: this.#options.permissionWaitMs,
      isAttended: () => this.#answerers.has(id),
    });
    this.#followed.set(id, { session, questions });
    this.#channelOf(id)
      .follow(session, (event) => questions.follow(event))
      .catch((error: unknown) => this.#options.warn(`Session ${id} cannot be watched: ${toRuntimeError(error).message}`))
      .finally(() => {
        questions.close();
        if (this.#followed.get(id)?.session === session) this.#followed.delete(id);
        if (this.#channels.get(id)?.size === 0) this.#channels.delete(id);
      });
    return held;
  }

  /**
   * Tells the watcher what happens, also after the session was closed and opened again, until the signal comes. `now` is the last stored event;
   * `goAway` is called when the watcher has left.
   */
  async watch(
    id: string,
    { watcher, after, signal, now, goAway }: Watching & { now: number; goAway: () => void },
  ): Promise<void> {
    const channel = this.#channelOf(id);
    const leave = (): void => {
      goAway();
      if (channel.size === 0 && !this.#followed.has(id) && this.#channels.get(id) === channel) this.#channels.delete(id);
    };
    const watching = channel.add(watcher, { after, now, signal }); // hears the signal first
    signal.addEventListener("abort", leave, { once: true });
    await watching;
  }

  /** Somebody who may answer is there from here on: questions wait for them. Answers how to say that they have gone. */
  attend(id: string): () => void {
    let isHere = true;
    this.#count(id, 1);
    return () => {
      if (isHere) this.#count(id, -1);
      isHere = false;
    };
  }

  /** Everybody who watches this session is told why nothing more comes. */
  end(id: string, reason: RuntimeError): void {
    this.#channels.get(id)?.end(reason);
    this.#channels.delete(id);
  }

  endAll(reason: RuntimeError): void {
    for (const channel of this.#channels.values()) channel.end(reason);
  }

  #count(id: string, change: 1 | -1): void {
    const left = (this.#answerers.get(id) ?? 0) + change;
    if (left > 0) this.#answerers.set(id, left);
    else this.#answerers.delete(id);
    this.#followed.get(id)?.questions.attendanceChanged();
  }

  #channelOf(id: string): SessionChannel {
    let channel = this.#channels.get(id);
    if (!channel) {
      const { store, maxReplay } = this.#options;
      channel = new SessionChannel({ id, store, maxReplay });
      this.#channels.set(id, channel);
    }
    return channel;
  }
}
