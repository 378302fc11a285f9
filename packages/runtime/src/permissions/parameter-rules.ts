import { isJsonObject } from "../protocol/content.ts";
import { ask, askBy } from "./decide.ts";
import { forbidsName } from "./forbidden-text.ts";
import { type Decision, denied, type Policy } from "./policy.ts";
import { type Action, namesTool, type Rule } from "./rules.ts";

/** `Agent(model:opus)`: a deny or ask rule about one parameter of a call. `Bash(timeout:*)` is about the program of that name. */
export async function decideParameters(
  policy: Policy,
  action: Action,
  decideBy: (policy: Policy) => Promise<Decision>,
): Promise<Decision> {
  const forbidden = policy.deny.find((rule) => speaksOf(rule, action));
  if (forbidden) return denied(forbidden);
  // What a call without a resource is about can be told from the parameter that a rule names.
  const isUnclear = (rule: Rule): boolean => action.resource !== "" || parameterOf(rule, action) === undefined;
  const decision = await decideBy({ ...policy, deny: policy.deny.filter(isUnclear) });
  const asking = decision.effect === "allow" ? policy.ask.find((rule) => speaksOf(rule, action)) : undefined;
  return asking ? askBy(asking, ask(policy, action, `The rule ${asking.text} wants to be asked`)) : decision;
}

function speaksOf(rule: Rule, action: Action): boolean {
  const parameter = parameterOf(rule, action);
  return parameter !== undefined && forbidsName(parameter.wanted, parameter.given) && namesTool(rule, action);
}

function parameterOf({ pattern = "" }: Rule, { input }: Action): { wanted: string; given: string } | undefined {
  const [, name = "", wanted = ""] = /^(\w+):(?!\*$)(.+)$/s.exec(pattern) ?? [];
  const given = isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : undefined;
  const isPlain = typeof given === "string" || typeof given === "number" || typeof given === "boolean";
  return isPlain ? { wanted, given: String(given) } : undefined;
}
