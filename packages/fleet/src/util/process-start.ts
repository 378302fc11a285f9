import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** When a process was started, in the system's own words: tells it from a later one with the same id. Undefined when there is none. */
export function startOf(pid: number): string | undefined {
  if (!existsSync("/proc/self/stat"))
    return spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim() || undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined; // it is gone
  }
}
