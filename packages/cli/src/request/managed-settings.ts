import { type JsonObject, RuntimeError, type SessionOptions } from "@outrider/runtime";
import type { FlagValues } from "../flags/flags.ts";
import { readTextFile } from "./read-text-file.ts";

type Permissions = NonNullable<SessionOptions["permissions"]>;

export type ManagedSettings = {
  /** Rules of the host that hold beside all others. */
  readonly permissions: Pick<Permissions, "deny" | "ask">;
  readonly mayBypass: boolean;
  readonly warnings: readonly string[];
};

const flag = "--managed-settings";

/**
 * What a host wants to keep its users from. Only what restricts counts: a host cannot widen what the user's own settings allow.
 * What is written wrongly is an error, since a policy must not vanish; what is not enforced here is told.
 */
export function readManagedSettings(text: string, flags: FlagValues): ManagedSettings {
  const { permissions = {}, ...others } = readObject(text);
  if (!isObject(permissions)) throw new RuntimeError("config", `${flag}: permissions must be an object`);
  const { deny, ask, disableBypassPermissionsMode: noBypass, ...unused } = permissions;
  const mayBypass = noBypass === undefined || noBypass === null;
  if (!mayBypass && (flags["permission-mode"] === "bypassPermissions" || flags["dangerously-skip-permissions"]))
    throw new RuntimeError("config", `${flag} does not allow to bypass permissions (disableBypassPermissionsMode)`, {
      hint: "Allow what is needed instead (--allowedTools)",
    });
  const left = [...Object.keys(others), ...Object.keys(unused).map((key) => `permissions.${key}`)];
  return {
    permissions: { deny: rulesOf(deny, "deny"), ask: rulesOf(ask, "ask") },
    mayBypass,
    warnings: left.map((key) => `${flag}: ${key} is not enforced here; permissions.deny and permissions.ask are`),
  };
}

function rulesOf(value: unknown, name: string): Permissions["deny"] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string"))
    return value.map((rule) => ({ text: rule, source: flag }));
  throw new RuntimeError("config", `${flag}: permissions.${name} must be a list of rules`);
}

function readObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text.trim().startsWith("{") ? text : readTextFile(text, flag));
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
  }
  if (isObject(value)) return value;
  throw new RuntimeError("config", `${flag} is no JSON object`);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
