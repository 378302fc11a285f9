/** Reads `source` until it ends or `signal` aborts, also when the source itself does not listen to the signal. */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  // One listener for the whole stream: racing every item against one long-lived promise would keep a reaction per item.
  let abandon: (reason: unknown) => void = () => {};
  const onAbort = (): void => abandon(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  let finished = false;
  try {
    while (true) {
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        abandon = reject;
        iterator.next().then(resolve, reject);
      });
      finished = next.done === true;
      if (finished) return;
      yield next.value;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a source that hangs would hang us too. Its own failure after this point is nobody's.
    if (!finished) void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** Waits for `promise`, or rejects with the signal's reason if that comes first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
