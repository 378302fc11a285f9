import { readFileSync } from "node:fs";
import type { Mount } from "./bubblewrap-arguments.ts";

/**
 * The mounts of a box as the kernel has them, if all that were wanted are there. A file that is replaced on the host takes what was
 * mounted on it along, in every box: the table says so. `pid` is bubblewrap outside; what is in the box are its children.
 */
export function mountTable(pid: number, wanted: readonly Mount[]): string | undefined {
  const table = readTable(pid);
  if (table === undefined) return undefined;
  const points = new Set(table.split("\n").map((line) => decode(line.split(" ")[4] ?? "")));
  return wanted.every(({ path }) => points.has(path)) ? table : undefined;
}

export function hasMountTable(pid: number, table: string): boolean {
  return readTable(pid) === table;
}

function readTable(pid: number): string | undefined {
  try {
    const inside = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ")[0];
    return readFileSync(`/proc/${inside}/mountinfo`, "utf8");
  } catch {
    return undefined; // it is gone, has no children, or the kernel does not tell
  }
}

function decode(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
