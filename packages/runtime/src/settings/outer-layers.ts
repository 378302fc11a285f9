import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { anchorRule, parseRule } from "../permissions/rules.ts";
import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import type { SettingsLayer } from "./layers.ts";

/**
 * Folders around a project that belong to the same repository and have settings of their own, the outermost first: the top of a repository
 * that holds several projects. The search ends at the repository's top, and below the home folder.
 */
export function outerProjects(root: string, userHome: string): string[] {
  const found: string[] = [];
  for (let folder = root; !existsSync(join(folder, ".git")); ) {
    folder = dirname(folder);
    if (folder === dirname(folder) || folder === userHome) return []; // no repository: nothing ties the folders together
    if ([".outrider", ".claude"].some((name) => existsSync(join(folder, name)))) found.unshift(folder);
  }
  return found;
}

/** Of such a folder only what forbids something counts: a project inside it may add to its rules, not escape them. */
export function onlyTightening(layer: SettingsLayer, folder: string): SettingsLayer {
  const { permissions } = layer.values;
  const given = isJsonObject(permissions) ? permissions : {};
  const lists = (["deny", "ask"] as const).flatMap((key) => {
    const rules = given[key];
    return Array.isArray(rules) ? [[key, rules.map((rule) => anchored(rule, folder))] as const] : [];
  });
  return { ...layer, values: lists.length === 0 ? {} : { permissions: Object.fromEntries(lists) } };
}

/** Relative paths in a rule start where it was written. */
function anchored(value: JsonValue, folder: string): JsonValue {
  if (typeof value !== "string") return value; // what is wrong with it is told with all other rules
  try {
    const rule = parseRule(value);
    const { pattern, anyDepth } = anchorRule(rule, folder);
    if (pattern === undefined || pattern === rule.pattern) return value;
    return `${rule.tool}(${anyDepth ? pattern.replace(/([^/]+\/?)$/, "**/$1") : pattern})`;
  } catch {
    return value;
  }
}
