import { isAllowedUrl } from "../hooks/allowed-urls.ts";
import { type HookLimits, type HookSource, isHookType, judgingEvents, parseHooks } from "../hooks/config.ts";
import { readMatcher } from "../hooks/matcher.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { modelKeys } from "../workspace/environment.ts";
import type { PluginOptionValues } from "./plugin-options.ts";
import { fillIn } from "./plugin-variables.ts";

type Ground = {
  readonly source: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly options: PluginOptionValues;
  readonly limits: HookLimits;
};

export type ReadHooks = {
  /** Those that run. */
  readonly hooks?: HookSource;
  /** All that stands in the file: what somebody is shown who says yes to it, since settings may let more of it run later. */
  readonly written: JsonValue;
  readonly warnings: readonly string[];
  /** Hooks for moments that never come here, a sentence each; sessions tell it by themselves. */
  readonly unheard: readonly string[];
};

/**
 * What a `hooks.json` says, with the plugin's variables. Where a hook that judges calls is wrongly written, it throws: work that was meant to
 * be watched must not go on unwatched. An address that hooks may not send to costs that one hook, other mistakes the hooks of the file.
 */
export function toHookSource(file: JsonObject, { source, variables, options, limits }: Ground): ReadHooks {
  const hooks = file["hooks"] ?? file;
  try {
    if (!isJsonObject(hooks)) throw new RuntimeError("config", `${source}: hooks must be an object with a list for each event`);
    const written = Object.fromEntries(
      Object.entries(hooks).map(([event, groups]) => [event, withVariables(groups, { variables, options })]),
    );
    const { value, warnings } = withinLimits(written, { source, limits });
    const made: HookSource = { value, source, trusted: true, isForeign: true };
    for (const event of judgingEvents) refuseUnreadable(value[event], `${source}: hooks.${event}`);
    return { hooks: made, written, warnings, unheard: parseHooks([made], limits).warnings };
  } catch (error) {
    const { message } = toRuntimeError(error);
    if (isJsonObject(hooks) && !judgingEvents.some((event) => Object.hasOwn(hooks, event)))
      return { written: hooks, warnings: [`${message}; the hooks of the file were left out`], unheard: [] };
    throw new UnreadableHooks(message);
  }
}

/** Hooks that were to watch and cannot be read. A run that wants their bundle does not begin. */
export class UnreadableHooks extends RuntimeError {
  constructor(message: string) {
    super("config", message, { hint: "Mend the file, or leave the plugin out" });
  }
}

type Written = { readonly value: JsonObject; readonly warnings: readonly string[] };

/** Without the http hooks that send where settings let no hook send. One that judges, guards or blocks stays, and is an error. */
function withinLimits(written: JsonObject, { source, limits }: Pick<Ground, "source" | "limits">): Written {
  const warnings: string[] = [];
  const warn = (what: string): void => void warnings.push(`${source}: ${what}`);
  const isKept = (event: string, hook: JsonValue): boolean => {
    if (judgingEvents.includes(event) || !isJsonObject(hook) || hook["guard"] === true || hook["onFailure"] === "block")
      return true;
    const { type, url } = hook;
    if (type !== "http" || typeof url !== "string" || !URL.canParse(url) || !/^https?:/i.test(url)) return true;
    if (isAllowedUrl(url, limits.allowedHttpHookUrls ?? [])) return true;
    warn(`a hook of ${event} goes to ${new URL(url).host}, which is not in allowedHttpHookUrls; it never runs`);
    return false;
  };
  const within = (event: string, group: JsonValue): JsonValue => {
    const hooks = isJsonObject(group) ? group["hooks"] : undefined;
    if (!isJsonObject(group) || !Array.isArray(hooks)) return group;
    return { ...group, hooks: hooks.filter((hook) => isKept(event, hook)).map((hook) => withoutKeys(hook, warn)) };
  };
  const value = Object.fromEntries(
    Object.entries(written).map(([event, groups]) => [
      event,
      Array.isArray(groups) ? groups.map((group) => within(event, group)) : groups,
    ]),
  );
  return { value, warnings };
}

/** A header never carries a key for models. */
function withoutKeys(hook: JsonValue, warn: (what: string) => void): JsonValue {
  const names = isJsonObject(hook) ? hook["allowedEnvVars"] : undefined;
  if (!isJsonObject(hook) || !Array.isArray(names)) return hook;
  const keys = names.filter((name) => typeof name === "string" && modelKeys.includes(name));
  if (keys.length > 0) warn(`a hook wants ${keys.join(", ")}, and no key for models is sent`);
  return { ...hook, allowedEnvVars: names.filter((name) => !keys.includes(name)) };
}

/** A matcher that cannot be read matches nothing, and a hook of an unknown type never runs: nothing would be judged. */
function refuseUnreadable(groups: JsonValue | undefined, where: string): void {
  for (const group of Array.isArray(groups) ? groups : []) {
    const pattern = isJsonObject(group) ? group["matcher"] : undefined;
    const matcher = readMatcher(typeof pattern === "string" ? pattern : "");
    if (!matcher.ok)
      throw new RuntimeError("config", `${where}: the matcher ${JSON.stringify(pattern)} cannot be used: ${matcher.problem}`);
    const hooks = isJsonObject(group) ? group["hooks"] : undefined;
    for (const hook of Array.isArray(hooks) ? hooks : [])
      if (isJsonObject(hook) && !isHookType(hook["type"]))
        throw new RuntimeError(
          "config",
          `${where}: a hook has the type ${JSON.stringify(hook["type"])}, and such hooks never run here`,
        );
  }
}

type Places = Pick<Ground, "variables" | "options">;

function withVariables(groups: JsonValue, places: Places): JsonValue {
  const own = { ...places.variables, ...places.options.env };
  if (!Array.isArray(groups)) return groups;
  return groups.map((group): JsonValue => {
    if (!isJsonObject(group)) return group;
    const { env, hooks } = group;
    const filled = Array.isArray(hooks) ? hooks.map((hook) => withPlaces(hook, places)) : hooks;
    return { ...group, env: { ...own, ...(isJsonObject(env) && env) }, ...(filled !== undefined && { hooks: filled }) };
  });
}

/**
 * A line for a shell finds the variables in its environment, where no path can become a part of the line. Only plain paths are written into it,
 * for authors who put quotes around them.
 */
function withPlaces(hook: JsonValue, { variables, options }: Places): JsonValue {
  if (!isJsonObject(hook)) return hook;
  const isLine = hook["type"] === "command" && hook["args"] === undefined;
  const plain = Object.fromEntries(Object.entries(variables).filter(([, value]) => /^[\w./+@:-]*$/.test(value)));
  const { command } = hook;
  if (isLine && typeof command === "string" && command.includes("${user_config."))
    throw new RuntimeError(
      "config",
      "a line for a shell finds options in its variables (CLAUDE_PLUGIN_OPTION_KEY), not in user_config.KEY",
    );
  if (isLine) return typeof command === "string" ? { ...hook, command: fillIn(command, plain) } : hook;
  return fillInAll(hook, { ...variables, ...options.places });
}

export function fillInAll(value: JsonValue, variables: Readonly<Record<string, string>>): JsonValue {
  if (typeof value === "string") return fillIn(value, variables);
  if (Array.isArray(value)) return value.map((item) => fillInAll(item, variables));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillInAll(item, variables)]));
}
