import { fstatSync } from "node:fs";

/** Asks the module of terminals only of what may be one: without Node, it takes a twentieth of a short run to load. */
export function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    return false; // closed
  }
}
