/**
 * A bounded single-reader queue: many `push`, one `for await`.
 * `push` answers false when the queue is at capacity: the item is not taken, and the caller decides what that means.
 */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #capacity: number;
  readonly #onReturn: () => void;
  #items: T[] = [];
  #wake: (() => void) | undefined;
  #room: { promise: Promise<void>; resolve: () => void } | undefined;
  #ended = false;
  #error: Error | undefined;

  constructor(options: { capacity: number; onReturn?: () => void }) {
    this.#capacity = options.capacity;
    this.#onReturn = options.onReturn ?? (() => {});
  }

  push(item: T): boolean {
    if (this.#ended) return true;
    if (this.#items.length >= this.#capacity) return false;
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /** Takes the item whatever the length; for writers that wait for `room()` before they go on. */
  pushAnyway(item: T): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** Undefined while there is room; else resolves when the reader has taken the batch. */
  room(): Promise<void> | undefined {
    if (this.#ended || this.#items.length < this.#capacity) return undefined;
    if (!this.#room) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  /** What was pushed before is still read; then the reader ends, or throws `error`. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
    this.#freeRoom();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    try {
      while (true) {
        // Swap the whole batch out: `shift()` on a long array costs its length every time.
        const batch = this.#items;
        this.#items = [];
        for (const item of batch) yield item;
        this.#freeRoom();
        if (this.#items.length > 0) continue;
        if (this.#error) throw this.#error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#ended = true;
      this.#items = [];
      this.#freeRoom();
      this.#onReturn();
    }
  }

  #freeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
