import { fixedPart, foldPath, originalOf, overlaps } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";

/** Could some file below `folder` (or `folder` itself) be one that the pattern names? */
export function mayReach(pattern: string, folder: string): boolean {
  const fixed = foldPath(fixedPart(pattern));
  const from = foldPath(folder);
  return [from, originalOf(from)].some((place) => isInside(place, fixed) || isInside(fixed, place));
}

/**
 * Could a pattern of the shell stand for a file that the pattern of a rule names (`same`), or for a folder `above` one?
 * `wild`: `*` may stand for hidden names, and `**` for any number of folders, as `shopt` makes them.
 */
export function mayHold(shellGlob: string, pattern: string, wild: boolean): "same" | "above" | undefined {
  const shell = foldPath(shellGlob).split("/");
  const rule = foldPath(pattern).split("/");
  const best = new Map<string, "same" | "above" | undefined>();
  const compare = (at: number, to: number): "same" | "above" | undefined => {
    const key = `${at} ${to}`;
    if (best.has(key)) return best.get(key);
    const found = step(at, to);
    best.set(key, found);
    return found;
  };
  const mayBeWorktrees = (at: number): boolean =>
    overlaps(shell[at] ?? "", ".outrider", wild) && overlaps(shell[at + 1] ?? "*", "worktrees", wild);
  const step = (at: number, to: number): "same" | "above" | undefined => {
    // Names below what a rule forbids are forbidden with it.
    if (to === rule.length) return "same";
    if (at === shell.length) return "above";
    const [glob = "", name = ""] = [shell[at], rule[to]];
    if (glob === "**" && wild) return "same"; // it stands for all that is left, and for what is below
    const ways: ("same" | "above" | undefined)[] = [];
    if (name === "**") ways.push(compare(at, to + 1), compare(at + 1, to));
    if (name !== "**" && overlaps(glob, name, wild)) ways.push(compare(at + 1, to + 1));
    if (mayBeWorktrees(at)) ways.push(compare(Math.min(at + 3, shell.length), to));
    return ways.includes("same") ? "same" : ways.find(Boolean);
  };
  return compare(0, 0);
}
