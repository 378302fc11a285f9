import { randomUuid } from "../util/unique-ids.ts";

/** Somebody whose processes are to be ended. */
export interface Guarded {
  /** Of everything this process started, when nobody else is guarded: then nothing of it may live on. */
  limitIfLast(): string | undefined;
  /** All its processes were ended. */
  release(): void;
}

/** Whatever this process starts bears two marks: see start-guard.ts. */
export type Guard = { readonly limit: string | undefined; dismiss(): void };

const guarded = new Set<object>();
let text: string | undefined;
let guard: Promise<Guard> | undefined;
let isOurs = false;

/** All that this process starts is ours to end: said by the command, never by a library in somebody else's process. */
export function claimProcess(): void {
  isOurs = true;
}

/** In the environment of all that this process starts. */
export function ownMark(): string {
  text ??= randomUuid();
  return text;
}

/** From here on a small shell waits for the end of our process, however that comes, and then ends what bears our marks. Linux only. */
export async function guardProcesses(): Promise<Guarded> {
  const self = {};
  guarded.add(self);
  guard ??= import("./start-guard.ts").then((guards) => guards.startGuard(ownMark(), isOurs));
  const { limit, dismiss } = await guard;
  let isSwept = limit === undefined;
  return {
    limitIfLast() {
      const isLast = guarded.size === 1 && guarded.has(self);
      isSwept ||= isLast;
      return isLast ? limit : undefined;
    },
    release() {
      // Where something may be left, the guard stays and sees to it when our process ends.
      if (!guarded.delete(self) || guarded.size > 0 || !isSwept) return;
      guard = undefined;
      dismiss();
    },
  };
}

/** Whether `claimProcess` was called. */
export function isOwnProcess(): boolean {
  return isOurs;
}
