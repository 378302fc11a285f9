import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { randomUuid } from "../util/unique-ids.ts";

/**
 * Whatever this process starts can be found by two marks: a text in its environment, and a limit of file locks that nobody else has.
 * Linux enforces that limit no more, and every child inherits it, also one that leaves its session and clears its environment.
 */
export type OwnMarks = { readonly text: string; readonly limit: string | undefined };

/** Somebody whose processes are to be ended. */
export interface Guarded {
  /** Of everything this process started, when nobody else is guarded: then nothing of it may live on. */
  limitIfLast(): string | undefined;
  /** All its processes were ended. */
  release(): void;
}

type Guard = { readonly limit: string | undefined; dismiss(): void };

/** Where the programs of the guard are looked for: not where a project's settings may lead. */
export const guardPath = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

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
  guard ??= startGuard();
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

/** Why something that a command starts may outlive this process, should that be killed. Undefined when nothing can. */
export function whyProcessesMayStay(limits: string | undefined = readLimits()): string | undefined {
  if (process.platform !== "linux") return "that is seen to on Linux only";
  if (!isOurs) return "the program that uses the library has processes of its own";
  if (chooseLimit(limits) === undefined) return "the hard limit of file locks (ulimit -H -x) is too low to mark them with it";
  return hasProgram("prlimit") ? undefined : "there is no program prlimit (package util-linux) to mark them with";
}

/** Undefined where it may not be that high. */
export function chooseLimit(limits: string | undefined, random: () => number = Math.random): string | undefined {
  const [, hard] = /^Max file locks\s+\S+\s+(\S+)/m.exec(limits ?? "") ?? [];
  const isFree = hard === "unlimited" || Number(hard) >= 2 ** 40;
  return isFree ? String(2 ** 39 + Math.floor(random() * 2 ** 39)) : undefined;
}

async function startGuard(): Promise<Guard> {
  if (process.platform !== "linux") return { limit: undefined, dismiss: () => {} };
  const limit = isOurs ? chooseLimit(readLimits()) : undefined;
  const dismiss = await (await import("./start-guard.ts")).startGuard({ text: ownMark(), limit });
  const isSet = limit !== undefined && new RegExp(`^Max file locks\\s+${limit}\\s`, "m").test(readLimits() ?? "");
  return { limit: isSet ? limit : undefined, dismiss };
}

function readLimits(): string | undefined {
  try {
    return readFileSync("/proc/self/limits", "latin1");
  } catch {
    return undefined;
  }
}

function hasProgram(name: string): boolean {
  return guardPath.split(":").some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
