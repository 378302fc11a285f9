import { toAbsolutePattern } from "./paths.ts";
import type { Rule, RuleBase } from "./rules.ts";

/** As in a `.gitignore`, `x` and `./x` forbid that name in every folder from there on; `a/x` and `/x` name one place. */
export function isAnyDepth(pattern: string): boolean {
  return /^(?:\.\/)?[^/~][^/]*\/?$/.test(pattern) && !/^\.{1,2}\/?$/.test(pattern);
}

/** What a rule forbids, as an absolute pattern in which `[ab]` is any text: more may be in doubt, never less. */
export function forbiddenPattern(rule: Rule, base: RuleBase): string {
  return forbidden(rule, base).replace(/\[[^\]/]+\]/g, "*");
}

/** Where it begins: a command that goes through whole folders is in doubt there, and not in every folder that could hold such a name. */
export function forbiddenPlace(rule: Rule, base: RuleBase): string {
  return forbiddenPattern({ ...rule, anyDepth: false }, base);
}

/** The same to the letter: `[ab]` is a name with brackets in it, or one character. */
export function forbiddenPatterns(rule: Rule, base: RuleBase): string[] {
  const literal = forbidden(rule, base);
  const classes = literal.replace(/\[[^\]/]+\]/g, "?");
  return classes === literal ? [literal] : [literal, classes];
}

/** What is escaped is taken as a wildcard: more is forbidden, never less. */
function forbidden({ pattern = "//**", anyDepth = isAnyDepth(pattern) }: Rule, base: RuleBase): string {
  const absolute = toAbsolutePattern(pattern.replace(/\\([*?])/g, "$1"), base);
  return anyDepth ? absolute.replace(/([^/]+\/?)$/, "**/$1") : absolute;
}
