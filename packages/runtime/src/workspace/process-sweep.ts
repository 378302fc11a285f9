import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../util/monotonic-clock.ts";

/** Processes by id. A negative id is a whole process group, as in kill(2), where single processes cannot be told apart. */
export type ProcessList = ReadonlyMap<number, ProcessTraits>;
/** `startedAt` tells a process from a later one with the same id. */
type ProcessTraits = { readonly group: number; readonly startedAt: string };

export type SweepTarget = {
  /** Text that stands in the environment of every process that is meant, and of no other. */
  readonly mark: string;
  readonly group?: number;
  /** The group is only made to end, not asked: when it goes, all others go with it. */
  readonly groupLast?: boolean;
  /** Found earlier; those that still live are meant too, whatever became of their environment. */
  readonly known?: ProcessList;
};

const graceMs = 300;
const killMs = 300;
const pollMs = 20;

/**
 * Asks all processes of the target to end, then makes them. Killing a process group is not enough: `setsid`, `nohup` and
 * double forks leave the group and the process tree, but take their environment along.
 */
export async function endProcesses(target: SweepTarget): Promise<void> {
  let found = findProcesses(target);
  const asked = [...found].filter(([, { group }]) => !(target.groupLast && group === target.group));
  signalAll(new Map(asked), { signal: "SIGTERM", group: target.group });
  await untilGone(found, graceMs);

  const deadline = monotonicMs() + killMs;
  // Again and again: what is killed may have started something in the meantime.
  while (true) {
    found = findProcesses({ ...target, known: found });
    if (found.size === 0 || monotonicMs() > deadline) return;
    signalAll(found, { signal: "SIGKILL", group: target.group });
    await pause(pollMs);
  }
}

/** The living processes of the target and all their descendants. Without /proc only whole groups can be found. */
export function findProcesses(target: SweepTarget): ProcessList {
  const found = new Map<number, ProcessTraits>();
  if (process.platform !== "linux") {
    const groups = [...(target.known?.values() ?? [])].map((traits) => traits.group).concat(target.group ?? 0);
    for (const group of groups) if (group && isAlive(-group)) found.set(-group, { group, startedAt: "" });
    return found;
  }

  const entries = listEntries();
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of entries) children.set(entry.parent, [...(children.get(entry.parent) ?? []), entry]);
  const meant = entries.filter((entry) => isMeant(entry, target));
  // The loop also walks what it appends: children of children.
  for (const entry of meant) {
    if (found.has(entry.pid)) continue;
    found.set(entry.pid, entry);
    meant.push(...(children.get(entry.pid) ?? []));
  }
  return found;
}

/** A dead process that its parent has not noticed yet counts as alive only where it cannot be told: in groups. */
export function isAlive(id: number): boolean {
  if (id > 0 && process.platform === "linux") return readEntry(String(id)) !== undefined;
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

type ProcessEntry = ProcessTraits & { readonly pid: number; readonly parent: number };

function listEntries(): ProcessEntry[] {
  const own = readEntry("self");
  return readdirSync("/proc").flatMap((name) => {
    const entry = /^\d+$/.test(name) ? readEntry(name) : undefined;
    // Nothing that is older than this process can have been started by it.
    if (!entry || entry.pid === process.pid || Number(entry.startedAt) < Number(own?.startedAt ?? 0)) return [];
    return [entry];
  });
}

/** Undefined for a process that is gone, or dead and only waits to be noticed by its parent. */
function readEntry(name: string): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${name}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name of the program stands in parentheses and may hold anything, also parentheses and spaces.
  const [state = "", parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return undefined;
  return { pid: Number.parseInt(stat, 10), parent: Number(parent), group: Number(group), startedAt: rest[16] ?? "" };
}

function isMeant(entry: ProcessEntry, target: SweepTarget): boolean {
  if (entry.group === target.group || target.known?.get(entry.pid)?.startedAt === entry.startedAt) return true;
  try {
    return readFileSync(`/proc/${entry.pid}/environ`).includes(target.mark);
  } catch {
    return false; // gone by now, or somebody else's
  }
}

/** A group gets the signal in one go, so that it cannot fork away from it, and its members get it once, not twice. */
function signalAll(list: ProcessList, order: { signal: NodeJS.Signals; group: number | undefined }): void {
  const ids = [...list].map(([id, { group }]) => (group === order.group ? -group : id));
  for (const id of new Set(ids)) {
    try {
      process.kill(id, order.signal);
    } catch {
      // It ended by itself in the meantime, or runs as somebody else now; the next look tells.
    }
  }
}

async function untilGone(list: ProcessList, limitMs: number): Promise<void> {
  const deadline = monotonicMs() + limitMs;
  while (monotonicMs() < deadline && [...list.keys()].some(isAlive)) await pause(pollMs);
}
