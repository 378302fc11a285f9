import { createMemoryStore } from "../../packages/runtime/src/journal/memory-store.ts";
import type { SessionStore } from "../../packages/runtime/src/journal/store.ts";
import type { AgentEvent, EventType } from "../../packages/runtime/src/protocol/events.ts";

/** A store that takes its time: nothing is stored in the tick that asks for it. It can be held shut, and made to fail. */
export class GatedStore {
  /** What is stored by now, known without waiting. */
  readonly stored: AgentEvent[] = [];
  /** Appends that were tried after one had failed. */
  triedAfterFailure = 0;
  readonly store: SessionStore;
  readonly #failAt: number;
  #taken = 0;
  #failed = false;
  #gate: Gate | undefined;

  /** The event with the number `failAt` (the first is 1) cannot be stored, nor what comes after it. */
  constructor({ failAt = Number.POSITIVE_INFINITY }: { failAt?: number } = {}) {
    this.#failAt = failAt;
    const inner = createMemoryStore();
    this.store = {
      ...inner,
      open: async (sessionId) => {
        const writer = await inner.open(sessionId);
        const append = async (events: readonly AgentEvent[]): Promise<void> => {
          await this.#pass(events);
          await writer.append(events);
          this.stored.push(...events);
        };
        return { ...writer, append };
      },
    };
  }

  /** Events of this type wait, with all that come after them; resolves when one does. */
  async hold(type: EventType): Promise<void> {
    const gate = new Gate(type);
    this.#gate = gate;
    await gate.reached;
  }

  release(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  async #pass(events: readonly AgentEvent[]): Promise<void> {
    if (this.#failed) this.triedAfterFailure++;
    for (let ticks = 0; ticks < 3; ticks++) await new Promise((resolve) => setImmediate(resolve));
    const gate = this.#gate;
    if (events.some(({ type }) => type === gate?.type)) await gate?.wait();
    this.#taken += events.length;
    if (this.#taken < this.#failAt) return;
    this.#failed = true;
    throw new Error("disk full");
  }
}

class Gate {
  readonly type: EventType;
  readonly reached: Promise<void>;
  #tellReached: () => void = () => {};
  readonly #opened: Promise<void>;
  open: () => void = () => {};

  constructor(type: EventType) {
    this.type = type;
    this.reached = new Promise((resolve) => {
      this.#tellReached = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  async wait(): Promise<void> {
    this.#tellReached();
    await this.#opened;
  }
}
