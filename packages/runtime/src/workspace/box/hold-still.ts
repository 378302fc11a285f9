import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../../util/monotonic-clock.ts";
import { oneAtATime } from "../../util/one-at-a-time.ts";
import type { StandingBox } from "./standing-box.ts";

/** A stop has reached them, or they have ended. */
const halted = new Set(["T", "t", "Z", "X"]);
const mostMs = 2000;
const pollMs = 1;
/** So many looks in a row find all of them still: one that was just starting another is seen by the next. */
const looksToBeSure = 2;

/** Two that hold the same box would let it go for each other. */
const oneHold = oneAtATime();

/** Does something while nothing in these boxes goes on. One that cannot be held is ended. */
export async function whileStill<T>(boxes: readonly Pick<StandingBox, "pid" | "discard">[], work: () => Promise<T>): Promise<T> {
  return await (boxes.length === 0 ? work() : oneHold(() => holdDuring(boxes, work)));
}

async function holdDuring<T>(boxes: readonly Pick<StandingBox, "pid" | "discard">[], work: () => Promise<T>): Promise<T> {
  const pids = await Promise.all(boxes.map(({ pid }) => pid));
  const held = await holdStill(pids.flatMap((pid) => pid ?? []));
  try {
    if (!held.isStill) await Promise.all(boxes.map((box) => box.discard()));
    return await work();
  } finally {
    held.release();
  }
}

export type Held = {
  /** False when some went on all the time. */
  readonly isStill: boolean;
  /** They go on. */
  release(): void;
};

/**
 * Stops everything below these processes (bubblewrap's, whose own are not the model's), so that nobody changes the folders that are looked at
 * and put right meanwhile. What is stopped can start nothing and wake nobody.
 */
export async function holdStill(boxes: readonly number[]): Promise<Held> {
  const stopped = new Set<number>();
  const release = (): void => {
    for (const pid of stopped) signal(pid, "SIGCONT");
  };
  try {
    return { isStill: await stopAll(boxes, stopped), release };
  } catch (error) {
    release(); // /proc could not be read: nobody else would let them go on
    throw error;
  }
}

async function stopAll(boxes: readonly number[], stopped: Set<number>): Promise<boolean> {
  // One that waits for a disk, or for a child it has just made and that is stopped, goes no further than that when its stop is on the way.
  const isMoving = ({ pid, state }: Seen): boolean => !halted.has(state) && !(state === "D" && stopped.has(pid));
  const until = monotonicMs() + mostMs;
  for (let looks = 0; looks < looksToBeSure; ) {
    const moving = below(boxes).filter(isMoving);
    looks = moving.length === 0 ? looks + 1 : 0;
    if (looks < looksToBeSure && monotonicMs() > until) return false;
    for (const { pid } of moving) {
      signal(pid, "SIGSTOP");
      stopped.add(pid);
    }
    if (looks < looksToBeSure) await pause(pollMs);
  }
  return true;
}

type Seen = { readonly pid: number; readonly parent: number; readonly state: string };

/** Whatever leaves its parent goes to the first process of its box, which is below as well. */
function below(boxes: readonly number[]): Seen[] {
  const children = new Map<number, Seen[]>();
  for (const name of readdirSync("/proc")) {
    const seen = /^\d+$/.test(name) ? look(name) : undefined;
    if (seen) children.set(seen.parent, [...(children.get(seen.parent) ?? []), seen]);
  }
  const found = boxes.flatMap((pid) => children.get(pid) ?? []);
  // The loop also walks what it appends.
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function look(name: string): Seen | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, "utf8");
    // The name of the program stands in parentheses and may hold anything.
    const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid: Number(name), parent: Number(parent), state };
  } catch {
    return undefined; // gone by now
  }
}

function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
