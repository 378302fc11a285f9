import { availableParallelism, loadavg } from "node:os";

const mostTimes = 4;

/** How long something may take that should take `ms`: longer on a machine that has much more to do than it can, where a run that is nearly done must not be left without its result. */
export function patience(ms: number): number {
  const waiting = (loadavg()[0] ?? 0) / availableParallelism();
  return ms * Math.min(mostTimes, Math.max(1, waiting / 2));
}
