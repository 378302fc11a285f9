import type { Policy } from "./policy.ts";
import { namesTool, type Rule } from "./rules.ts";

/** Also those of submodules (`.git/modules/x/objects`), of Git LFS (`.git/lfs/objects`) and of git-annex. */
export const objects = "//**/.git/**/objects/**";

/** Git keeps what files say under other names: a rule that protects files from being read protects those, too. */
export function withGitObjects<Given extends Pick<Policy, "deny" | "ask">>(policy: Given): Given {
  const deny = withObjects(policy.deny);
  const ask = withObjects(policy.ask);
  return deny === policy.deny && ask === policy.ask ? policy : { ...policy, deny, ask };
}

function withObjects(rules: readonly Rule[]): readonly Rule[] {
  const protecting = rules.find(
    (rule) => rule.pattern !== undefined && namesTool(rule, { tool: "", kind: "look", resource: "" }),
  );
  if (!protecting || rules.some(isForObjects)) return rules;
  return [...rules, { ...protecting, pattern: objects, anyDepth: false }];
}

/** It was added here, and names no place to begin at. */
export function isForObjects({ pattern }: Rule): boolean {
  return pattern === objects;
}
