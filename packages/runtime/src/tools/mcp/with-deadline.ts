/** The work, or the news that it took too long. What comes of it later is nobody's concern. */
export async function withDeadline<T>(
  work: Promise<T>,
  { signal, timeout }: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<T> {
  let onAbort = (): void => {};
  const tooLate = new Error(`it did not answer within ${timeout} ms`);
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(tooLate);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  // The package has a clock of its own, which may be the first on a machine that is busy.
  const told = work.catch((error: unknown) => {
    throw Object(error).code === "REQUEST_TIMEOUT" ? tooLate : error;
  });
  told.catch(() => {}); // told once, by the race
  return await Promise.race([told, late]).finally(() => signal.removeEventListener("abort", onAbort));
}
