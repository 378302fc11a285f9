import type { Target } from "./command-paths.ts";
import { mayHold } from "./path-patterns.ts";
import { mayHaveHeld, mayMeet, type Seen } from "./forbidden-below.ts";
import { forbiddenPattern } from "./forbidden-paths.ts";
import type { Rule } from "./rules.ts";
import type { Shown } from "./shown-files.ts";

type Reading = {
  readonly shown: Shown;
  /** Where the words lead that name what is read; the folder it is in when there are none. */
  readonly targets: readonly Target[];
  /** Patterns of the shell may stand for hidden names, or for names at any depth. */
  readonly wildGlobs: boolean;
};

/**
 * Why a program may show a file that one of the rules protects, although no word names it. Undefined when all the files it shows are
 * known and none of them is protected.
 */
export async function readConflict(reading: Reading, rules: readonly Rule[], seen: Seen): Promise<string | undefined> {
  const { shown, targets } = reading;
  const [first] = rules;
  if (!first || shown.type === "nothing") return undefined;
  if (shown.type === "unknown") return `${shown.why}, and the rule ${first.text} protects some`;
  for (const target of targets) {
    if (!target) return `it reads files that are not written out, and the rule ${first.text} protects some`;
    let hit: Rule | undefined;
    for (const rule of rules) if (!hit && (await isHit(rule, target, reading, seen))) hit = rule;
    if (hit)
      return shown.type === "below"
        ? `it reads whole folders, where the rule ${hit.text} protects files`
        : `the rule ${hit.text} protects what it may read`;
  }
  return undefined;
}

async function isHit(
  rule: Rule,
  { path, pattern }: NonNullable<Target>,
  { shown, wildGlobs }: Reading,
  seen: Seen,
): Promise<boolean> {
  const isBelow = shown.type === "below";
  if (path.endsWith("/**")) return mayMeet(rule, path.slice(0, -3), seen);
  if (!pattern) return isBelow && (shown.stored ? mayHaveHeld : mayMeet)(rule, path, seen);
  const held = mayHold(path, forbiddenPattern(rule, seen.base), wildGlobs);
  return isBelow ? held !== undefined : held === "same";
}
