import { existsSync } from "node:fs";

/** Not searched in PATH, where a project could put a program of this name. */
export const bubblewrapPlaces: readonly string[] = [
  "/usr/bin/bwrap",
  "/bin/bwrap",
  "/usr/local/bin/bwrap",
  "/run/current-system/sw/bin/bwrap",
];

/** A guess that costs nothing: is it installed at all? */
export function findBubblewrap(): string | undefined {
  return process.platform === "linux" ? bubblewrapPlaces.find((path) => existsSync(path)) : undefined;
}
