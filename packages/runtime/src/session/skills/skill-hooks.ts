import { isJsonObject, type JsonValue } from "../../protocol/content.ts";
import type { HookSource } from "../../hooks/config.ts";
import type { Skill } from "../../commands/skills/skill.ts";

/**
 * The hooks of a skill as settings would have them. Its folder is in their variables; programs that are started without a shell have it in
 * their arguments too. Undefined for a skill without any.
 */
export function hooksOfSkill({ hooks, path, folder, plugin }: Skill): HookSource | undefined {
  if (!hooks) return undefined;
  const variables = { CLAUDE_SKILL_DIR: folder, OUTRIDER_SKILL_DIR: folder, ...plugin?.variables };
  const value = Object.fromEntries(
    Object.entries(hooks).map(([event, groups]) => [event, withPlaces(groups, { variables, plugin })]),
  );
  return { value, source: path, trusted: true, isForeign: true };
}

type Places = { readonly variables: Readonly<Record<string, string>>; readonly plugin: Skill["plugin"] };

function withPlaces(groups: JsonValue, { variables, plugin }: Places): JsonValue {
  if (!Array.isArray(groups)) return groups;
  return groups.map((group): JsonValue => {
    if (!isJsonObject(group)) return group;
    const { env, hooks } = group;
    const filled = Array.isArray(hooks)
      ? hooks.map((hook) => filledIn(plugin ? withoutVariables(hook) : hook, variables))
      : hooks;
    return { ...group, env: { ...variables, ...(isJsonObject(env) && env) }, ...(filled !== undefined && { hooks: filled }) };
  });
}

/** What a bundle's hook sends carries no variable of the user's: nobody was shown which. */
function withoutVariables(hook: JsonValue): JsonValue {
  return isJsonObject(hook) && hook["allowedEnvVars"] !== undefined ? { ...hook, allowedEnvVars: [] } : hook;
}

/** A line for a shell finds the variables by itself, where no path can become a part of the line. */
function filledIn(hook: JsonValue, variables: Readonly<Record<string, string>>): JsonValue {
  if (!isJsonObject(hook) || !Array.isArray(hook["args"])) return hook;
  const fill = (value: JsonValue): JsonValue =>
    typeof value === "string" ? value.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => variables[name] ?? whole) : value;
  return { ...hook, ...(hook["command"] !== undefined && { command: fill(hook["command"]) }), args: hook["args"].map(fill) };
}
