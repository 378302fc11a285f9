import { fstatSync, statSync } from "node:fs";

/** Asks the module of terminals only of what may be one: without Node, it takes a twentieth of a short run to load. */
export function isTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && stats.rdev !== nullDevice() && process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    return false; // closed
  }
}

/** What the stdin of most jobs is. */
function nullDevice(): number | undefined {
  return statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
}
