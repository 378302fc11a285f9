import type { AgentEvent } from "@outrider/runtime";
import type { RunModel } from "../model/run-model.ts";
import { type Api, ApiError, type Frame } from "./api.ts";
import { SessionState, type Snapshot } from "./session-state.ts";

export type Connection = { readonly type: "connecting" | "live" } | { readonly type: "lost"; readonly retryAt: number };
export type View = {
  readonly run: RunModel;
  readonly state: SessionState;
  readonly connection: Connection;
  readonly isReady: boolean;
};

const firstRetryMs = 250;
const lastRetryMs = 10_000;
/** A long run is put together less often: it takes longer, and one more step changes less of it. */
const frameMs = (steps: number): number => (steps < 300 ? 60 : steps < 3000 ? 250 : 1000);

/** One session, followed from its beginning. After a break it goes on where it was: nothing is asked for twice, and nothing is missed. */
export class SessionFeed {
  readonly #api: Api;
  readonly #id: string;
  readonly #leaving = new AbortController();
  readonly #onView: (view: View) => void;
  #state = new SessionState();
  #connection: Connection = { type: "connecting" };
  #isReady = false;
  #steps = 0;
  #drawing: ReturnType<typeof setTimeout> | undefined;
  #wakeUp: () => void = () => {};
  #costsTo = 0;
  #askingCosts = false;

  constructor(api: Api, id: string, onView: (view: View) => void) {
    this.#api = api;
    this.#id = id;
    this.#onView = onView;
    void this.#follow();
  }

  close(): void {
    this.#leaving.abort();
    clearTimeout(this.#drawing);
    this.#wakeUp();
  }

  /** Does not wait any longer. */
  retryNow(): void {
    this.#wakeUp();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#leaving;
    let wait = firstRetryMs;
    while (!signal.aborted) {
      try {
        await this.#readOnce(() => {
          wait = firstRetryMs;
        });
      } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 401)) {
          this.#setConnection({ type: "connecting" });
          if (error.status === 401) return;
          wait = lastRetryMs; // it may be made or shared yet
        }
      }
      if (signal.aborted) return;
      this.#setConnection({ type: "lost", retryAt: Date.now() + wait });
      await this.#pause(wait);
      wait = Math.min(lastRetryMs, wait * 2);
    }
  }

  async #readOnce(connected: () => void): Promise<void> {
    const { signal } = this.#leaving;
    const snapshot = await this.#api.get<Snapshot>(`/v1/sessions/${this.#id}`, signal);
    const catchUp = (): void => {
      this.#state.settle(snapshot);
      this.#isReady = true;
      this.#draw();
      void this.#askCosts();
    };
    let isBehind = this.#state.seq < snapshot.storedSeq;
    connected();
    this.#setConnection({ type: "live" });
    if (!isBehind) catchUp();
    const path = `/v1/sessions/${this.#id}/events?after=${this.#state.seq}`;
    await this.#api.watch(
      path,
      (frame, isStored) => {
        this.#take(frame, isStored);
        if (isBehind && this.#state.seq >= snapshot.storedSeq) {
          isBehind = false;
          catchUp();
        }
      },
      signal,
    );
  }

  #take(frame: Frame, isStored: boolean): void {
    if (frame.type === "resync") {
      // Too much was missed: the steps before this moment are told by the report, and what follows by the stream.
      this.#state = new SessionState();
      const { session } = frame as unknown as { session: Snapshot };
      this.#state.seq = session.storedSeq;
      this.#state.settle(session);
      return this.#draw();
    }
    if (frame.type === "stream.ended" || typeof frame["seq"] !== "number") return;
    const event = frame as unknown as AgentEvent;
    this.#state.push(event, isStored);
    if ((event.type === "message.ended" || event.type === "side-call.ended") && this.#isReady) void this.#askCosts();
    if (this.#isReady) this.#drawSoon();
  }

  async #askCosts(): Promise<void> {
    if (this.#askingCosts || this.#costsTo >= this.#state.answered) return;
    this.#askingCosts = true;
    const upTo = this.#state.answered;
    try {
      const { costs } = await this.#api.get<{ costs: Record<string, number | null> }>(
        `/v1/sessions/${this.#id}/costs?after=${this.#costsTo}`,
        this.#leaving.signal,
      );
      for (const [seq, cost] of Object.entries(costs)) this.#state.cost(Number(seq), cost);
      this.#costsTo = upTo;
      this.#drawSoon();
    } catch {
      // The next answer asks again.
    } finally {
      this.#askingCosts = false;
    }
    if (this.#costsTo === upTo && this.#state.answered > upTo) await this.#askCosts();
  }

  #setConnection(connection: Connection): void {
    this.#connection = connection;
    this.#draw();
  }

  #drawSoon(): void {
    this.#drawing ??= setTimeout(() => this.#draw(), frameMs(this.#steps));
  }

  #draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (this.#leaving.signal.aborted) return;
    const run = this.#state.run();
    this.#steps = run.steps.length;
    this.#onView({ run, state: this.#state, connection: this.#connection, isReady: this.#isReady });
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
