/** Milliseconds that never jump. `performance.now()` is the same, but its first use loads a module. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
