import { parseRule, type Rule } from "../permissions/rules.ts";

/** A tool as agents name it: a rule, or `*` for all of them. Throws a `usage` error for anything else. */
export function toolRule(text: string, source: string): Rule {
  return text === "*" ? { text, tool: "*", pattern: undefined, source } : parseRule(text, source);
}
