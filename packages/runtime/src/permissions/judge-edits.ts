import { decide } from "./decide.ts";
import type { Decision, Policy } from "./policy.ts";
import { editingOf } from "./rules.ts";

/** What the rules say about changing these files, whatever changes them; the strictest word counts. */
export async function judgeEdits(policy: Policy, realPaths: readonly string[]): Promise<Decision> {
  return await decide(policy, realPaths.map(editingOf));
}
