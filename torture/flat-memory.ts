import type { Heap } from "./served-process.ts";

/** A moment in which nobody is connected and no session is open. */
export type Rest = { readonly sessions: number; readonly heap: Heap };

/** What may be held longer after the last rest than after an early one, whatever was done in between: timers, connections, shapes of objects. */
const slackBytes = 1 << 20;
/** What a session that is gone may leave behind, in bounded memories of the latest. */
const bytesPerSession = 1_000;

/** How much the heap grows with each session that came and went: the slope of the line nearest to all rests but those of the first third. */
export function growthPerSession(rests: readonly Rest[]): { readonly each: number; readonly sessions: number } {
  const settled = rests.slice(Math.floor(rests.length / 3));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [atSessions, atBytes] = [mean(settled.map(({ sessions }) => sessions)), mean(settled.map(({ heap }) => heap.data))];
  const spread = settled.reduce((sum, { sessions }) => sum + (sessions - atSessions) ** 2, 0);
  const common = settled.reduce((sum, { sessions, heap }) => sum + (sessions - atSessions) * (heap.data - atBytes), 0);
  const span = (settled.at(-1)?.sessions ?? 0) - (settled[0]?.sessions ?? 0);
  return { each: spread === 0 ? 0 : common / spread, sessions: span };
}

/** Why it is not flat; undefined where it is. */
export function whyNotFlat(rests: readonly Rest[]): string | undefined {
  const { each, sessions } = growthPerSession(rests);
  if (each * sessions <= slackBytes + bytesPerSession * sessions) return undefined;
  const course = rests.map(({ heap }) => (heap.data / 1e6).toFixed(1)).join(" ");
  return `the heap grows by ${Math.round(each)} bytes with each session that has come and gone; at rest it held ${course} MB`;
}
