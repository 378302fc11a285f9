import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { randomUuid } from "../../util/unique-ids.ts";
import { namesIn } from "./host-files.ts";

/** A control group that bounds how many processes and threads are in it. */
export type ProcessLimit = {
  /** Writing a process id here puts the process and all its children in the group. */
  readonly procs: string;
  /** Waits a moment for what is just ending in it. */
  release(): Promise<void>;
};

const releaseTries = 50;
const releaseEveryMs = 10;

/**
 * The kernel does not count root's processes against RLIMIT_NPROC, so an agent that runs as root needs a control group.
 * Undefined where none can be made: most containers show theirs read-only.
 */
export function limitProcesses(limit: number): ProcessLimit | undefined {
  for (const parent of parentGroups()) {
    removeStale(parent);
    const group = join(parent, `outrider-${process.pid}-${randomUuid()}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(group, "pids.max"), String(limit));
      return { procs: join(group, "cgroup.procs"), release: () => release(group) };
    } catch {
      remove(group); // the controller is not there for this group
    }
  }
  return undefined;
}

async function release(group: string): Promise<void> {
  for (let tries = 0; !remove(group) && tries < releaseTries; tries++) await pause(releaseEveryMs);
}

/** Left by agents that were killed. */
function removeStale(parent: string): void {
  for (const name of namesIn(parent)) {
    const owner = /^outrider-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) remove(join(parent, name));
  }
}

function remove(group: string): boolean {
  try {
    rmdirSync(group);
  } catch {
    return !existsSync(group); // not empty yet, or gone
  }
  return true;
}

/** Where a group could be made: below our own place in the tree of the `pids` controller, first version, then second. */
function parentGroups(): string[] {
  const lines = readText("/proc/self/cgroup").split("\n");
  const own = (controller: string): string | undefined => {
    const line = lines.find((line) => line.split(":")[1] === controller);
    return line?.split(":").slice(2).join(":");
  };
  const first = own("pids");
  const second = own("");
  return [
    ...(first === undefined ? [] : [join("/sys/fs/cgroup/pids", first)]),
    ...(second === undefined ? [] : [join("/sys/fs/cgroup", second), join("/sys/fs/cgroup/unified", second)]),
  ].filter((path) => existsSync(path));
}

/** How many processes this one may have at most, whatever is asked for. */
export function hardProcessLimit(): number {
  const line = readText("/proc/self/limits")
    .split("\n")
    .find((line) => line.startsWith("Max processes"));
  const hard = Number(line?.trim().split(/\s{2,}/)[2]);
  return Number.isNaN(hard) ? Number.POSITIVE_INFINITY : hard;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
