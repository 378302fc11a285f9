import { type HookLimits, type HookSource, parseHooks } from "../hooks/config.ts";
import { readMatcher } from "../hooks/matcher.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { fillIn } from "./plugin-variables.ts";

type Ground = {
  readonly source: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly limits: HookLimits;
};

/**
 * What a `hooks.json` says, with the plugin's variables. Where a hook that judges calls is wrongly written, it throws: work that was meant to
 * be watched must not go on unwatched. Other mistakes cost the hooks of the file, and are told.
 */
export function toHookSource(file: JsonObject, { source, variables, limits }: Ground): { hooks?: HookSource; warning?: string } {
  const hooks = file["hooks"] ?? file;
  try {
    if (!isJsonObject(hooks)) throw new RuntimeError("config", `${source}: hooks must be an object with a list for each event`);
    const value = Object.fromEntries(Object.entries(hooks).map(([event, groups]) => [event, withVariables(groups, variables)]));
    const made: HookSource = { value, source, trusted: true, isForeign: true };
    for (const event of judging) refuseUnreadable(value[event], `${source}: hooks.${event}`);
    parseHooks([made], limits);
    return { hooks: made };
  } catch (error) {
    const { message } = toRuntimeError(error);
    if (isJsonObject(hooks) && !judging.some((event) => Object.hasOwn(hooks, event)))
      return { warning: `${message}; the hooks of the file were left out` };
    throw new RuntimeError("config", message);
  }
}

/** Their hooks say what may happen. */
const judging = ["PreToolUse", "PermissionRequest"];

/** A matcher that cannot be read matches nothing, so that nothing would be judged. */
function refuseUnreadable(groups: JsonValue | undefined, where: string): void {
  for (const group of Array.isArray(groups) ? groups : []) {
    const pattern = isJsonObject(group) ? group["matcher"] : undefined;
    const matcher = readMatcher(typeof pattern === "string" ? pattern : "");
    if (!matcher.ok)
      throw new RuntimeError("config", `${where}: the matcher ${JSON.stringify(pattern)} cannot be used: ${matcher.problem}`);
  }
}

function withVariables(groups: JsonValue, variables: Readonly<Record<string, string>>): JsonValue {
  if (!Array.isArray(groups)) return groups;
  return groups.map((group): JsonValue => {
    if (!isJsonObject(group)) return group;
    const { env, hooks } = group;
    const filled = Array.isArray(hooks) ? hooks.map((hook) => withPlaces(hook, variables)) : hooks;
    return { ...group, env: { ...variables, ...(isJsonObject(env) && env) }, ...(filled !== undefined && { hooks: filled }) };
  });
}

/**
 * A line for a shell finds the variables in its environment, where no path can become a part of the line. Only plain paths are written into it,
 * for authors who put quotes around them.
 */
function withPlaces(hook: JsonValue, variables: Readonly<Record<string, string>>): JsonValue {
  if (!isJsonObject(hook)) return hook;
  const isLine = hook["type"] === "command" && hook["args"] === undefined;
  const plain = Object.fromEntries(Object.entries(variables).filter(([, value]) => /^[\w./+@:-]*$/.test(value)));
  const { command } = hook;
  if (isLine) return typeof command === "string" ? { ...hook, command: fillIn(command, plain) } : hook;
  return fillInAll(hook, variables);
}

function fillInAll(value: JsonValue, variables: Readonly<Record<string, string>>): JsonValue {
  if (typeof value === "string") return fillIn(value, variables);
  if (Array.isArray(value)) return value.map((item) => fillInAll(item, variables));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillInAll(item, variables)]));
}
