import { readFileSync } from "node:fs";
import { namesIn } from "./host-files.ts";

const closeOnExec = 0o2000000;

/**
 * Open files this process was started with and would hand on to every program: whoever started the agent may have left something
 * open that commands must not read. Node closes only what it opened itself.
 */
export function inheritedFiles(): number[] {
  return namesIn("/proc/self/fdinfo")
    .map(Number)
    .filter((number) => number > 2 && isHandedOn(number))
    .sort((a, b) => a - b);
}

function isHandedOn(number: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // the one that was open for looking
  }
}
