import { isInside } from "../util/is-inside.ts";
import type { BoxPlan } from "./box/box-plan.ts";

/** Of all boxes of this process: a command must not trust what another one is just making. */
export const runningBoxes: Set<BoxPlan> = new Set();

/** Does a program live in a box that can change what is in one of these folders, or where they are? */
export function isBoxRunningOver(folders: readonly string[], boxes: Iterable<BoxPlan> = runningBoxes): boolean {
  const overlaps = (path: string): boolean => folders.some((folder) => isInside(folder, path) || isInside(path, folder));
  return [...boxes].some(({ mounts }) => mounts.some((mount) => mount.type === "writable" && overlaps(mount.path)));
}
