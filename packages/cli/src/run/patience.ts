const parts = 16;

/**
 * Calls back after `ms` in which this process was free to work. The time is counted in parts: where the machine has so much to do that
 * timers come late, each part is longer, and a run that is nearly done is not left without its result. Answers how to stop it.
 */
export function afterPatience(ms: number, then: () => void): () => void {
  let left = parts;
  const next = (): void => {
    if (left-- === 0) return then();
    timer = setTimeout(next, ms / parts);
  };
  let timer: NodeJS.Timeout | undefined;
  next();
  return () => clearTimeout(timer);
}
