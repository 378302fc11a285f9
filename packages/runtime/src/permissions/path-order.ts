import { isInside } from "../util/is-inside.ts";
import type { Moment } from "./moments.ts";
import { isOddName } from "./shell-words.ts";

/**
 * What a part of a line does to the meaning of paths in its other parts: `plain` only fills or creates files and folders where its paths
 * say, so that no other path leads elsewhere afterwards; `moves` takes what is there, links included, to these paths; `runs` code of
 * the project, which may make links and may as well show itself whatever they would lead to; `unknown`.
 */
export type Change = { readonly moment: Moment; readonly type: Kind; readonly paths: readonly string[] };

type Kind = "plain" | "moves" | "runs" | "unknown";

/** May one of these come before? */
export function changesBefore<Each extends Pick<Change, "moment">>(moment: Moment, changes: readonly Each[]): readonly Each[] {
  return changes.filter((change) => change.moment.at < moment.until && (change.moment !== moment || moment.again));
}

/**
 * Names in a folder are used as words, whatever they are by then: another part may have made one that is taken apart or for an option,
 * or moved one there.
 */
export function namesDisturbed(folder: string, moment: Moment | undefined, changes: readonly Change[]): boolean {
  if (!moment) return false;
  return changesBefore(moment, changes).some(({ type, paths }) =>
    paths.some((path) => isInside(folder, path) && (type !== "plain" || hasOddName(path.slice(folder.length)))),
  );
}

/** All that is below a folder has its names already. */
function hasOddName(path: string): boolean {
  const made = path.replace(/\/\*\*$/, "");
  return made.split("/").some((name) => isOddName(name) || name.startsWith("-"));
}

/** The first change after which a path may lead elsewhere than it does now. A pattern may find what a change has just made. */
export function disturbance(
  path: string,
  moment: Moment | undefined,
  changes: readonly Change[],
): "moves" | "runs" | "unknown" | undefined {
  if (!moment) return undefined;
  const before = changesBefore(moment, changes);
  if (before.some(({ type, paths }) => type === "moves" && paths.some((moved) => isInside(moved, path)))) return "moves";
  if (before.some(({ type }) => type === "unknown")) return "unknown";
  return before.some(({ type }) => type === "runs") ? "runs" : undefined;
}
