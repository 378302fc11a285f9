import { isInside } from "../util/is-inside.ts";
import type { Policy } from "./policy.ts";
import { anchorRule, type Rule } from "./rules.ts";

/**
 * The same policy for work in another folder: what rules and modes allow in the first root, they allow in the other one instead; what
 * is forbidden or asked about is so in both.
 */
export function policyAt(policy: Policy, root: string): Policy {
  const { base } = policy;
  const moved = (rules: readonly Rule[]): Rule[] => rules.map((rule) => moveRule(rule, { from: base.root, to: root }));
  const inBoth = (rules: readonly Rule[]): Rule[] => [...rules.map((rule) => anchorRule(rule, base.root)), ...moved(rules)];
  return {
    ...policy,
    base: { ...base, root },
    allow: moved(policy.allow),
    ask: inBoth(policy.ask),
    deny: inBoth(policy.deny),
  };
}

function moveRule(rule: Rule, { from, to }: { from: string; to: string }): Rule {
  const { exactly, pattern } = rule;
  // A yes that was remembered was for its own place.
  if (exactly) return { ...rule, exactly: { ...exactly, cwd: exactly.cwd ?? from } };
  const path = pattern?.startsWith("//") ? pattern.slice(1) : undefined;
  if (path === undefined || !isInside(from, path)) return rule;
  return { ...rule, pattern: `/${to}${path.slice(from.length)}` };
}
