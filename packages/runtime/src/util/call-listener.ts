/** Calls a listener of the program, an async one too. What it throws goes to `failed` and keeps nobody else from going on. */
export function callListener(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const done = call();
    if (done instanceof Promise) done.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** The program's own bug, told where its author looks. Answers the words. */
export function warnOfListener(name: string, error: unknown): string {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `A listener of "${name}" has thrown: ${reason}`;
  process.emitWarning(message, "OutriderListenerError");
  return message;
}
