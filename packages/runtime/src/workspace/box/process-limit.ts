import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group that bounds how many processes and threads are in it. */
export type ProcessLimit = {
  /** Writing a process id here puts the process and all its children in the group. */
  readonly procs: string;
  release(): void;
};

/**
 * The kernel does not count root's processes against RLIMIT_NPROC, so an agent that runs as root needs a control group.
 * Undefined where none can be made: most containers show theirs read-only.
 */
export function limitProcesses(name: string, limit: number): ProcessLimit | undefined {
  for (const parent of parentGroups()) {
    const group = join(parent, name);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const release = (): void => {
      try {
        rmdirSync(group);
      } catch {
        // Still in use by what is just ending, or gone: an empty group costs nothing.
      }
    };
    try {
      writeFileSync(join(group, "pids.max"), String(limit));
      return { procs: join(group, "cgroup.procs"), release };
    } catch {
      release(); // the controller is not there for this group
    }
  }
  return undefined;
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
