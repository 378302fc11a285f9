import type { Target } from "./command-paths.ts";
import { mayHold, mayReach } from "./path-patterns.ts";
import { forbiddenPattern, forbiddenPlace } from "./forbidden-paths.ts";
import type { Rule, RuleBase } from "./rules.ts";
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
export function readConflict({ shown, targets, wildGlobs }: Reading, rules: readonly Rule[], base: RuleBase): string | undefined {
  const [first] = rules;
  if (!first || shown.type === "nothing") return undefined;
  if (shown.type === "unknown") return `${shown.why}, and the rule ${first.text} protects some`;
  for (const target of targets) {
    if (!target) return `it reads files that are not written out, and the rule ${first.text} protects some`;
    const { path, pattern } = target;
    const hit = rules.find((rule) => {
      const place = forbiddenPlace(rule, base);
      if (path.endsWith("/**")) return mayReach(place, path.slice(0, -3));
      if (!pattern) return shown.type === "below" && mayReach(place, path);
      if (shown.type === "below" && mayHold(path, place, wildGlobs)) return true;
      return mayHold(path, forbiddenPattern(rule, base), wildGlobs) === "same";
    });
    if (hit)
      return shown.type === "below"
        ? `it reads whole folders, where the rule ${hit.text} protects files`
        : `the rule ${hit.text} protects what it may read`;
  }
  return undefined;
}
