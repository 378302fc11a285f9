import type { PermissionMode } from "../protocol/permission.ts";
import { type Action, allows, denies, type Rule, type RuleBase, suggestRule } from "./rules.ts";

export type Policy = {
  readonly mode: PermissionMode;
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
  readonly base: RuleBase;
  /** Directories beside the root that may be read, such as the one for long outputs. */
  readonly readable: readonly string[];
};

export type Decision = {
  readonly effect: "allow" | "ask" | "deny";
  readonly reason: string;
  /** The rule that decided, or for `ask` one that would allow it. */
  readonly rule?: string;
};

/** Pure. Deny rules, then allow rules, then the mode; with several actions the strictest decides. */
export function decide(policy: Policy, actions: readonly Action[]): Decision {
  let strictest: Decision = { effect: "allow", reason: "It touches nothing" };
  for (const action of actions) {
    const decision = decideOne(policy, action);
    if (decision.effect === "deny") return decision;
    if (decision.effect === "ask" || strictest.effect === "allow") strictest = decision;
  }
  return strictest;
}

function decideOne(policy: Policy, action: Action): Decision {
  const denied = policy.deny.find((rule) => denies(rule, action, policy.base));
  if (denied) return { effect: "deny", reason: `The rule ${denied.text} forbids it`, rule: denied.text };
  const allowed = policy.allow.find((rule) => allows(rule, action, policy.base));
  if (allowed && !(policy.mode === "plan" && changesThings(action))) {
    return { effect: "allow", reason: `The rule ${allowed.text} allows it`, rule: allowed.text };
  }
  return decideByMode(policy, action);
}

function decideByMode(policy: Policy, action: Action): Decision {
  const { mode } = policy;
  if (mode === "bypassPermissions") return { effect: "allow", reason: "Permissions are bypassed" };
  if (action.kind === "note") return { effect: "allow", reason: "It touches nothing" };
  if (mode === "plan" && changesThings(action))
    return { effect: "deny", reason: "Plan mode only looks; nothing may be changed or run" };
  const inside = isInside(policy.base.root, action.resource);
  if (action.kind === "look" && (inside || policy.readable.some((folder) => isInside(folder, action.resource)))) {
    return { effect: "allow", reason: "Reading in the project is allowed" };
  }
  if (action.kind === "edit" && inside && mode === "acceptEdits")
    return { effect: "allow", reason: "acceptEdits allows changing files of the project" };
  return {
    effect: "ask",
    reason: `${describe(action)} needs permission in mode ${mode}`,
    rule: suggestRule(action, policy.base),
  };
}

function changesThings(action: Action): boolean {
  return action.kind === "edit" || action.kind === "run";
}

function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function describe(action: Action): string {
  switch (action.kind) {
    case "look":
      return `Reading ${action.resource}, outside the project,`;
    case "edit":
      return `Changing ${action.resource}`;
    case "run":
      return "Running a command";
    case "reach":
      return "Reaching the network";
    case "note":
      return action.tool;
  }
}
