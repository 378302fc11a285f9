import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { type PermissionMode, toPermissionMode } from "../protocol/permission.ts";
import { grantSources, isTooWideToRemember } from "./grants.ts";
import type { Policy } from "./policy.ts";
import { parseRule, type Rule } from "./rules.ts";

/** One of Claude Code's `updatedPermissions`, as the answer to a permission question may carry it. */
export type PermissionUpdate = {
  readonly destination: "session" | "localSettings" | "projectSettings" | "userSettings";
} & (
  | { readonly type: "addRules" | "replaceRules" | "removeRules"; readonly behavior: Behavior; readonly rules: readonly Rule[] }
  | { readonly type: "setMode"; readonly mode: PermissionMode }
  | { readonly type: "addDirectories" | "removeDirectories"; readonly directories: readonly string[] }
);

type Behavior = "allow" | "ask" | "deny";

/** What an answer may change. `mayBypass`: the run was started with the flag for that. */
export type PolicyState = Pick<Policy, "mode" | "allow" | "ask" | "deny" | "readable"> & {
  readonly directories: readonly string[];
  readonly mayBypass: boolean;
};

export type AppliedUpdate = {
  readonly state: PolicyState;
  /** Rules to keep for the project beyond this session: what was meant for `localSettings`. */
  readonly remember: readonly Rule[];
  /** What was not done as asked, and why; for a warning. */
  readonly notes: readonly string[];
};

/** Unknown → typed; what does not fit is a usage error that says what was expected. */
export function parsePermissionUpdate(value: JsonValue): PermissionUpdate {
  const update = objectOf(value, "A permission update");
  const destination = destinations.find((name) => name === (update["destination"] ?? "session"));
  if (!destination) throw wrong("destination", destinations.join(", "));
  switch (update["type"]) {
    case "addRules":
    case "replaceRules":
    case "removeRules": {
      const behavior = behaviors.find((name) => name === (update["behavior"] ?? "allow"));
      if (!behavior) throw wrong("behavior", behaviors.join(", "));
      return { type: update["type"], destination, behavior, rules: listOf(update["rules"], "rules").map(toRule) };
    }
    case "setMode": {
      const mode = toPermissionMode(update["mode"]);
      if (!mode) throw wrong("mode", "the name of a permission mode");
      return { type: "setMode", destination, mode };
    }
    case "addDirectories":
    case "removeDirectories": {
      const directories = listOf(update["directories"], "directories").map((path) => {
        if (typeof path !== "string" || !path.startsWith("/")) throw wrong("directories", "absolute paths");
        return path;
      });
      return { type: update["type"], destination, directories };
    }
    default:
      throw wrong("type", "addRules, replaceRules, removeRules, setMode, addDirectories or removeDirectories");
  }
}

/**
 * The state after an answer that changes it. Settings files are never written: what is meant for `localSettings` becomes an
 * answer remembered for the project, what is meant for the others holds for this session only. Rules that were written in a
 * file or a flag stay whatever an answer says: only what was added by answers can be replaced or removed. Pure.
 */
export function applyPermissionUpdate(state: PolicyState, update: PermissionUpdate): AppliedUpdate {
  const notes = update.destination === "projectSettings" || update.destination === "userSettings" ? [notWritten(update)] : [];
  switch (update.type) {
    case "addRules":
    case "replaceRules":
    case "removeRules":
      return changeRules(state, update, notes);
    case "setMode":
      if (update.mode === "bypassPermissions" && !state.mayBypass)
        return {
          state,
          remember: [],
          notes: ["The run was not started with permission to bypass permissions, so the mode stays"],
        };
      return { state: { ...state, mode: update.mode }, remember: [], notes };
    case "addDirectories":
      return {
        state: { ...state, directories: [...new Set([...state.directories, ...update.directories])] },
        remember: [],
        notes,
      };
    case "removeDirectories":
      return {
        state: { ...state, directories: state.directories.filter((path) => !update.directories.includes(path)) },
        remember: [],
        notes,
      };
  }
}

type RuleUpdate = Extract<PermissionUpdate, { readonly rules: readonly Rule[] }>;

function changeRules(
  state: PolicyState,
  { type, behavior, rules, destination }: RuleUpdate,
  given: readonly string[],
): AppliedUpdate {
  const refused = behavior === "allow" && type !== "removeRules" ? rules.filter(isTooWideToRemember) : [];
  const notes = [...given, ...refused.map(({ text }) => `${text} was not added: it would allow running anything`)];
  const added = rules.filter((rule) => !refused.includes(rule)).map((rule) => ({ ...rule, source: grantSources.session }));
  const isNamed = (rule: Rule): boolean => rules.some(({ text }) => text === rule.text);
  const present = state[behavior];
  if (type === "removeRules") {
    const fixed = present.filter((rule) => isNamed(rule) && !isAnswer(rule));
    const kept = present.filter((rule) => !isNamed(rule) || !isAnswer(rule));
    const stay = fixed.map(({ text, source }) => `${text} stays: it is written in ${source ?? "the settings"}`);
    return { state: { ...state, [behavior]: kept }, remember: [], notes: [...notes, ...stay] };
  }
  const kept =
    type === "replaceRules"
      ? present.filter((rule) => !isAnswer(rule))
      : present.filter((rule) => !isNamed(rule) || !isAnswer(rule));
  const remember = destination === "localSettings" && behavior === "allow" ? added : [];
  return { state: { ...state, [behavior]: [...kept, ...added] }, remember, notes };
}

function isAnswer({ source }: Rule): boolean {
  return source === grantSources.session || source === grantSources.project;
}

function notWritten({ destination }: PermissionUpdate): string {
  return `No settings file is written for an answer: what was meant for ${destination} holds for this session`;
}

const destinations = ["session", "localSettings", "projectSettings", "userSettings"] as const;
const behaviors = ["allow", "ask", "deny"] as const;

function toRule(value: JsonValue): Rule {
  if (typeof value === "string") return parseRule(value);
  const { toolName, ruleContent } = objectOf(value, "A rule of a permission update");
  if (typeof toolName !== "string") throw wrong("rules", "objects with toolName and ruleContent");
  if (ruleContent !== undefined && typeof ruleContent !== "string") throw wrong("ruleContent", "a text");
  return parseRule(ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`);
}

function objectOf(value: JsonValue | undefined, what: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new RuntimeError("usage", `${what} must be an object`);
}

function listOf(value: JsonValue | undefined, name: string): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw wrong(name, "a list");
}

function wrong(name: string, expected: string): RuntimeError {
  return new RuntimeError("usage", `A permission update has a wrong ${name}; expected ${expected}`);
}
