/**
 * A bounded single-reader queue: many `push`, one `for await`.
 * `push` answers false when the queue is at capacity: the item is not taken, and the caller decides what that means.
 * The iterator is written by hand: an async generator costs several promises per item, and a delta is an item.
 */
export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  readonly #capacity: number;
  readonly #onReturn: () => void;
  #items: T[] = [];
  #batch: T[] = [];
  #next = 0;
  #waiting: { resolve: (result: IteratorResult<T>) => void; reject: (error: Error) => void } | undefined;
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
    this.pushAnyway(item);
    return true;
  }

  /** Takes the item whatever the length; for writers that wait for `room()` before they go on. */
  pushAnyway(item: T): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    if (!waiting) return void this.#items.push(item);
    this.#waiting = undefined;
    waiting.resolve({ done: false, value: item });
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
    this.#freeRoom();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (!waiting) return;
    if (error) waiting.reject(error);
    else waiting.resolve({ done: true, value: undefined });
    this.#onReturn();
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#next >= this.#batch.length) {
      // Swap the whole batch out: `shift()` on a long array costs its length every time.
      this.#batch = this.#items;
      this.#items = [];
      this.#next = 0;
      this.#freeRoom();
    }
    if (this.#next < this.#batch.length) {
      return Promise.resolve({ done: false, value: this.#batch[this.#next++] as T }); // the index is inside the batch
    }
    if (!this.#ended) {
      return new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
    }
    const error = this.#error;
    this.#error = undefined;
    this.#onReturn();
    return error ? Promise.reject(error) : Promise.resolve({ done: true, value: undefined });
  }

  return(): Promise<IteratorResult<T>> {
    this.#ended = true;
    this.#error = undefined;
    this.#items = [];
    this.#batch = [];
    this.#freeRoom();
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #freeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
