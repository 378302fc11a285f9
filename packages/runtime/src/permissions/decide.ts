import { withGitObjects } from "./stored-contents.ts";
import { guardOf, isBeside, isMachineFact, isOpenFolder, isReservedName, isSecretOfProcess, workFolders } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import { allowed, type Decision, denied, type Policy, type ResolvePath, stricter } from "./policy.ts";
import { type Action, allows, denies, isWrittenFor, namesTool, type Rule, suggestRule } from "./rules.ts";

const untouched: Decision = { effect: "allow", reason: "It touches nothing" };

/**
 * Deny rules, then ask rules, then allow rules, then the mode; with several actions the strictest decides.
 * Touches nothing itself: `resolve` follows the links in paths that are words of a command.
 */
export async function decide(
  given: Policy,
  actions: readonly Action[],
  resolve: ResolvePath = async (path) => path,
): Promise<Decision> {
  const policy = withGitObjects(given);
  const decisions: Decision[] = [];
  for (const action of actions) decisions.push(await decideAction(policy, action, resolve));
  decisions.push(...(await guardGitFiles(policy, actions)));
  const strictest = decisions.length === 0 ? untouched : decisions.reduce(stricter);
  const git = decisions.find((decision) => decision.git)?.git;
  if (strictest.effect === "ask" && policy.mode === "dontAsk")
    return { ...strictest, effect: "deny", reason: `${strictest.reason}, and mode dontAsk denies what would be asked` };
  return strictest.effect === "allow" && git ? { ...strictest, git } : strictest;
}

/** Files that together look like a repository are judged together; what does that is loaded where a name fits. */
async function guardGitFiles(policy: Policy, actions: readonly Action[]): Promise<Decision[]> {
  const mayBeOfGit = ({ kind, resource }: Action): boolean =>
    kind === "edit" &&
    /[/](?:head|co(?:nfig|mmondir)|gitdir|hooks|objects|refs|packed-refs|info|modules|worktrees)/i.test(resource);
  if (policy.mode === "bypassPermissions" || !actions.some(mayBeOfGit)) return [];
  return (await import("./git-folders.ts")).guardGitFiles(policy, actions);
}

/** Rules about parameters of calls are few: what reads them is loaded where there is one. */
async function decideAction(policy: Policy, action: Action, resolve: ResolvePath): Promise<Decision> {
  const decideBy = (by: Policy): Promise<Decision> =>
    action.kind === "run" ? decideRun(by, action, resolve) : decideOther(by, action);
  const isNeeded =
    action.input !== undefined && [...policy.deny, ...policy.ask].some(({ pattern = "" }) => /^\w+:(?!\*$)/.test(pattern));
  if (!isNeeded) return decideBy(policy);
  return (await import("./parameter-rules.ts")).decideParameters(policy, action, decideBy);
}

/** Commands are taken apart only where that can matter: the parser is loaded when it is first needed. */
async function decideRun(policy: Policy, action: Action, resolve: ResolvePath): Promise<Decision> {
  const isRuled = policy.deny.length + policy.ask.length > 0;
  if (policy.mode === "bypassPermissions" && !isRuled && !mayNameSecrets(action.resource)) return bypassed;
  if (action.resource === "") return decideOne(policy, action); // what is run cannot be told
  const { decideCommand } = await import("./decide-command.ts");
  return decideCommand(policy, action, resolve);
}

/** It may name secrets of a process, which no mode opens: by their names, or by a pattern that could stand for them. */
function mayNameSecrets(command: string): boolean {
  return /proc|environ|auxv|\/[\w'"\\]*[*?[{]/i.test(command);
}

export const bypassed: Decision = { effect: "allow", reason: "Permissions are bypassed", by: "bypass" };

/** Mode `sandboxed` reaches what programs in the box may reach. */
async function decideOther(policy: Policy, action: Action): Promise<Decision> {
  const ruled = decideByRules(policy, action);
  if (ruled) return ruled;
  const mayReach = policy.mode === "sandboxed" && action.kind === "reach" && URL.canParse(action.resource);
  const box = mayReach ? await policy.box?.() : undefined;
  if (box?.reaches(new URL(action.resource))) return { effect: "allow", reason: "The sandbox may reach this address" };
  return decideByMode(policy, action);
}

/** Everything but commands. Paths are real ones already. */
export function decideOne(policy: Policy, action: Action): Decision {
  return decideByRules(policy, action) ?? decideByMode(policy, action);
}

/** What rules, protected places and the modes that need no rule say. */
function decideByRules(policy: Policy, action: Action): Decision | undefined {
  const { base, mode } = policy;
  const forbidden = policy.deny.find((rule) => denies(rule, action, base));
  if (forbidden) return denied(forbidden);
  const allowing = policy.allow.filter((rule) => allows(rule, action, base));
  const written = allowing.find((rule) => isWrittenFor(rule, action, base));
  const secret = action.kind === "look" && isSecretOfProcess(action.resource) && !written;
  if (secret) return { effect: "deny", reason: `${action.resource} holds the secrets of a process` };
  if ((action.kind === "look" || action.kind === "edit") && isReservedName(action.resource, base))
    return { effect: "deny", reason: `${action.resource} is the name of a device` };
  if (mode === "plan" && (action.kind === "edit" || action.kind === "run")) return planDenies;
  const asking = policy.ask.find((rule) => denies(rule, action, base));
  if (asking) return askBy(asking, ask(policy, action, `The rule ${asking.text} wants to be asked`));
  const unclear = policy.deny.find((rule) => rule.pattern !== undefined && action.resource === "" && namesTool(rule, action));
  if (unclear)
    return askBy(
      unclear,
      ask(policy, action, `The rule ${unclear.text} speaks of this tool, and what the call is about cannot be told`),
    );
  if (mode === "bypassPermissions") return bypassed;
  const ground = { ...base, directories: policy.directories };
  const guard = action.kind === "look" || action.kind === "edit" ? guardOf(action.resource, action.kind, ground) : undefined;
  const rule = guard ? written : allowing[0];
  if (rule) return allowed(rule);
  return guard && { ...ask(policy, action, `${action.resource} is protected: ${guard.reason}`), effect: guard.effect };
}

export const planDenies: Decision = { effect: "deny", reason: "Plan mode only looks; nothing may be changed or run" };

function decideByMode(policy: Policy, action: Action): Decision {
  const { mode, base } = policy;
  if (action.kind === "note") return untouched;
  const isIn = (folder: string): boolean => isInside(folder, action.resource);
  const inside = workFolders({ ...base, directories: policy.directories }).some(isIn);
  const isReadable = inside || policy.readable.some((folder) => isBeside(folder, base) && isIn(folder));
  if (action.kind === "look" && isReadable) return { effect: "allow", reason: "Reading in the project is allowed" };
  if (action.kind === "look" && (isMachineFact(action.resource) || (action.namesOnly && isOpenFolder(action.resource))))
    return { effect: "allow", reason: "It tells about the machine, and nothing about its users" };
  if (action.kind === "edit" && inside && (mode === "acceptEdits" || mode === "sandboxed"))
    return { effect: "allow", reason: `${mode} allows changing files of the project` };
  return ask(policy, action, `${describe(action)} needs permission in mode ${mode}`);
}

export function ask(policy: Policy, action: Action, reason: string): Decision {
  const isFile = (action.kind === "look" || action.kind === "edit") && action.resource !== "";
  return { effect: "ask", reason, rule: suggestRule(action, policy.base), ...(isFile && { path: action.resource }) };
}

/** The question with where the rule stands that wants it asked. */
export function askBy(rule: Rule, question: Decision): Decision {
  return rule.source === undefined ? question : { ...question, source: rule.source };
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
      return action.resource === "" ? `Calling ${action.tool}` : "Reaching the network";
    case "note":
      return action.tool;
  }
}
