/** The items of all batches, one by one. Written by hand: an async generator costs several promises per item. */
export function flatten<T>(batches: AsyncIterable<readonly T[]>): AsyncIterableIterator<T> {
  const source = batches[Symbol.asyncIterator]();
  let batch: readonly T[] = [];
  let position = 0;
  const pull = async (): Promise<IteratorResult<T>> => {
    while (position >= batch.length) {
      const next = await source.next();
      if (next.done) return { done: true, value: undefined };
      batch = next.value;
      position = 0;
    }
    return { done: false, value: batch[position++] as T }; // the index is inside the batch
  };
  return {
    next: () => (position < batch.length ? Promise.resolve({ done: false, value: batch[position++] as T }) : pull()),
    return: async () => {
      batch = [];
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
