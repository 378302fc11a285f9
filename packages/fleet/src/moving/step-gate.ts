import type { AgentEvent, SessionStore } from "@outrider/runtime";

/**
 * Holds a session between two steps: after an answer no call is begun, and after a round of calls nothing is asked, until the engine has the
 * step. A worker that the engine has given up can so do no more than what one step does.
 */
export class StepGate {
  #isOpen = true;
  #openCalls = 0;
  #waiting: (() => void)[] = [];

  /** A step begins: those before it are kept. */
  open(): void {
    this.#isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }

  async pass(signal: AbortSignal): Promise<void> {
    // What was told just now is on its way to the journal, which closes the gate.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.#isOpen) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    signal.throwIfAborted();
  }

  see(event: AgentEvent): void {
    if (event.taskId !== undefined) return;
    if (event.type === "message.ended") {
      this.#openCalls = event.message.content.filter(({ type }) => type === "tool-call").length;
      this.#isOpen = false;
    }
    if (event.type === "tool.ended" && --this.#openCalls === 0) this.#isOpen = false;
  }
}

export type StoreWatch = {
  see(event: AgentEvent): void;
  /** Awaited before a call whose start was stored is made. */
  onIntent(): Promise<void>;
  beforeRead(): Promise<void>;
};

/** The same store, watched. */
export function watchStore(store: SessionStore, watch: StoreWatch): SessionStore {
  return {
    ...store,
    async read(...words) {
      await watch.beforeRead();
      return await store.read(...words);
    },
    async has(sessionId) {
      await watch.beforeRead();
      return await store.has(sessionId);
    },
    async open(sessionId) {
      const writer = await store.open(sessionId);
      return {
        events: writer.events,
        warnings: writer.warnings,
        location: writer.location,
        async append(events) {
          for (const event of events) watch.see(event);
          await writer.append(events);
          if (events.some(({ type }) => type === "tool.started")) await watch.onIntent();
        },
        close: () => writer.close(),
      };
    },
  };
}
