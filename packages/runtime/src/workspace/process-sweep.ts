import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../util/monotonic-clock.ts";

/** Processes by id. A negative id is a whole process group, as in kill(2), where single processes cannot be told apart. */
export type ProcessList = ReadonlyMap<number, ProcessTraits>;
/** `startedAt` tells a process from a later one with the same id. */
type ProcessTraits = { readonly group: number; readonly startedAt: string };

export type SweepTarget = {
  /** Text that stands in the environment of every process that is meant, and of no other. */
  readonly mark: string;
  /** An open file that every such process has inherited: servers that write over their own environment still have it. */
  readonly token?: ProcessToken | undefined;
  /** A limit of file locks that every such process has inherited, and no other: nothing a process does to itself takes it away. */
  readonly limit?: string | undefined;
  readonly group?: number | undefined;
  /** The group is only made to end, not asked: when it goes, all others go with it. */
  readonly groupLast?: boolean;
  /** Found earlier; those that still live are meant too, whatever became of their environment. */
  readonly known?: ProcessList;
};

/** `path` is what /proc says the descriptor of this number leads to. */
export type ProcessToken = { readonly descriptor: number; readonly path: string };

const graceMs = 300;
const killMs = 300;
const pollMs = 20;
/** Rounds of killing there are in any case, however long looking takes: on a busy machine that alone may use up the time. */
const minRounds = 2;
/** So many looks in a row find nobody before what has lived is taken for gone: one that hands over to a child and exits during a look is seen by none. */
const looksToBeSure = 3;

/**
 * Asks all processes of the target to end, then makes them. Killing a process group is not enough: `setsid`, `nohup` and
 * double forks leave the group and the process tree, but take their environment along.
 */
export async function endProcesses(
  target: SweepTarget,
  { look = findProcesses, alive = look(target) }: { alive?: ProcessList; look?: (target: SweepTarget) => ProcessList } = {},
): Promise<void> {
  let found = alive;
  const asked = [...found].filter(([, { group }]) => !(target.groupLast && group === target.group));
  signalAll(new Map(asked), { signal: "SIGTERM", group: target.group });
  await untilGone(found, graceMs);

  const deadline = monotonicMs() + killMs;
  let missing = alive.size === 0 ? 1 : looksToBeSure;
  // Again and again: what is killed may have started something in the meantime.
  for (let round = 0; ; round++) {
    found = look({ ...target, known: found });
    if (found.size > 0) missing = looksToBeSure;
    else if (--missing === 0) return;
    if (round >= minRounds && monotonicMs() > deadline) return;
    signalAll(found, { signal: "SIGKILL", group: target.group });
    await pause(pollMs);
  }
}

const atExit = new Set<() => SweepTarget>();

/**
 * Until the answer is called, these processes are killed when our own process exits: whoever is made to leave in the middle of things
 * has no time to ask. After SIGKILL to ourselves the guard sees to them.
 */
export function killAtExit(target: () => SweepTarget): () => void {
  if (atExit.size === 0) process.on("exit", killAll);
  atExit.add(target);
  return () => {
    atExit.delete(target);
    if (atExit.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const target of atExit) {
    // Twice: what is killed may have started something in the meantime.
    for (const _ of [1, 2]) {
      const meant = target();
      signalAll(findProcesses(meant), { signal: "SIGKILL", group: meant.group });
    }
  }
}

/** The living processes of the target and all their descendants. Without /proc only whole groups can be found; so where it cannot be read. */
export function findProcesses(target: SweepTarget): ProcessList {
  const found = new Map<number, ProcessTraits>();
  const entries = process.platform === "linux" ? listEntries() : undefined;
  if (!entries) {
    const groups = [...(target.known?.values() ?? [])].map((traits) => traits.group).concat(target.group ?? 0);
    for (const group of groups) if (group && isAlive(-group)) found.set(-group, { group, startedAt: "" });
    return found;
  }

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

/** What was started, where it can be told; a shell and what it runs are one of these each. */
export function commandLines(list: ProcessList): string[] {
  return [...list.keys()].flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return line === "" ? [] : [line];
    } catch {
      return []; // gone by now, or no /proc
    }
  });
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

/** When a process started, in the kernel's own measure; undefined where that cannot be told. */
export function startOf(pid: number): string | undefined {
  return readEntry(String(pid))?.startedAt;
}

type ProcessEntry = ProcessTraits & { readonly pid: number; readonly parent: number };

/** Undefined when there is no descriptor left to look with. */
function listEntries(): ProcessEntry[] | undefined {
  const own = readEntry("self");
  return namesIn("/proc")?.flatMap((name) => {
    const entry = /^\d+$/.test(name) ? readEntry(name) : undefined;
    // Nothing that is older than this process can have been started by it.
    if (!entry || entry.pid === process.pid || Number(entry.startedAt) < Number(own?.startedAt ?? 0)) return [];
    return [entry];
  });
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

/** Undefined for a process that is gone, or dead and only waits to be noticed by its parent. */
function readEntry(name: string): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${name}/stat`, "utf8"); // Node reads a file as UTF-8 in one step
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
  return hasLimit(entry.pid, target.limit) || hasMark(entry.pid, target);
}

function hasMark(pid: number, { mark, token }: SweepTarget): boolean {
  try {
    if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark)) return true;
    return token !== undefined && readlinkSync(`/proc/${pid}/fd/${token.descriptor}`) === token.path;
  } catch {
    return false; // gone by now, or somebody else's, or no such descriptor
  }
}

function hasLimit(pid: number, limit: string | undefined): boolean {
  if (limit === undefined) return false;
  try {
    return new RegExp(`^Max file locks +${limit} `, "m").test(readFileSync(`/proc/${pid}/limits`, "utf8"));
  } catch {
    return false; // gone by now
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
