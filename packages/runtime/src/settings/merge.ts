import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { Leaf } from "./check-layer.ts";
import type { Setting } from "./schema.ts";

/** What became of one file's value. `united`: it is a part of the whole. */
export type Verdict = "won" | "united" | "overridden" | "ignored";
export type Contribution = { readonly leaf: Leaf; readonly verdict: Verdict; readonly why?: string };

/** One setting with everything the files say about it. */
export type MergedSetting = {
  readonly setting: Setting;
  readonly path: readonly string[];
  /** What holds; undefined when no file counts and there is no default. */
  readonly value: JsonValue | undefined;
  /** Lowest first. */
  readonly contributions: readonly Contribution[];
};

/** The values of all files, lowest first, made one per setting. What a project may not say is left out, and said. */
export function mergeLeaves(leaves: readonly Leaf[], { trusted }: { trusted: boolean }): MergedSetting[] {
  const groups = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const key = JSON.stringify(leaf.path);
    const group = groups.get(key);
    if (group) group.push(leaf);
    else groups.set(key, [leaf]);
  }
  return [...groups.values()].map((group) => mergeOne(group, trusted));
}

function mergeOne(leaves: readonly Leaf[], trusted: boolean): MergedSetting {
  const [{ setting, path }] = leaves as [Leaf]; // a group has at least one
  let value = setting.default;
  let counting: JsonValue | undefined;
  const contributions: Contribution[] = [];
  for (const leaf of leaves) {
    const why = reasonAgainst(leaf, value, trusted);
    if (why !== undefined) {
      contributions.push({ leaf, verdict: "ignored", why });
      continue;
    }
    counting = counting === undefined ? leaf.value : combine(setting, counting, leaf.value);
    value = counting;
    if (setting.merge === "replace") override(contributions);
    contributions.push({ leaf, verdict: setting.merge === "replace" ? "won" : "united" });
  }
  return { setting, path, value, contributions };
}

/** Why a file is not heard; undefined when it is. A project is trusted or not as a whole; the user's own files and flags always are. */
function reasonAgainst({ setting, value, layer }: Leaf, current: JsonValue | undefined, trusted: boolean): string | undefined {
  if (layer.scope === "user" || layer.scope === "flag") return undefined;
  const never = setting.notFromProject?.(value);
  if (never !== undefined || trusted) return never;
  if (setting.untrusted === "counts") return undefined;
  if (setting.untrusted === "stricter")
    return setting.isStricter?.(value, current) ? undefined : "the project is not trusted, and may only be stricter";
  return setting.executes
    ? "the project is not trusted, and it would start a program"
    : "the project is not trusted, and may only forbid";
}

function override(contributions: Contribution[]): void {
  const last = contributions.findLastIndex(({ verdict }) => verdict === "won");
  const won = contributions[last];
  if (won) contributions[last] = { ...won, verdict: "overridden" };
}

function combine({ merge }: Setting, low: JsonValue, high: JsonValue): JsonValue {
  switch (merge) {
    case "replace":
      return high;
    case "unite":
      return [...new Set([...toList(low), ...toList(high)])];
    case "deep":
      return mergeJson(low, high, (_, replacement) => replacement);
    case "collect":
      return mergeJson(low, high, (first, second) =>
        Array.isArray(first) && Array.isArray(second) ? [...first, ...second] : second,
      );
  }
}

/** Objects field by field; where one of two is none, `pick` decides. The result has no prototype that a name could reach. */
export function mergeJson(low: JsonValue, high: JsonValue, pick: (low: JsonValue, high: JsonValue) => JsonValue): JsonValue {
  if (!isJsonObject(low) || !isJsonObject(high)) return pick(low, high);
  const merged = emptyObject();
  for (const source of [low, high]) {
    for (const [name, value] of Object.entries(source)) {
      const present = merged[name];
      merged[name] = present === undefined ? value : mergeJson(present, value, pick);
    }
  }
  return merged;
}

/** An object whose fields are only the ones that were put there: not `constructor`, not `__proto__`. */
export function emptyObject(): JsonObject {
  return Object.create(null) as JsonObject; // as empty as any
}

function toList(value: JsonValue): JsonValue[] {
  return Array.isArray(value) ? value : [value];
}
