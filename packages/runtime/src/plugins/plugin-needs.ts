import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import { compareVersions } from "./compare-versions.ts";
import type { LoadedBundlePlugin, PluginNeed } from "./plugin.ts";
import { isPluginName } from "./plugin-name.ts";

/** `dependencies` of a manifest: names, or objects with a name, a range of versions and a marketplace; undefined for what is none. */
export function parseNeeds(value: JsonValue): PluginNeed[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const needs = value.map((item): PluginNeed | undefined => {
    const { name, version, marketplace } = isJsonObject(item) ? item : { name: item };
    if (!isPluginName(name)) return undefined;
    if ([version, marketplace].some((text) => text !== undefined && typeof text !== "string")) return undefined;
    return {
      name,
      ...(typeof version === "string" && { version }),
      ...(typeof marketplace === "string" && { marketplace }),
    };
  });
  return needs.every((need) => need !== undefined) ? needs : undefined;
}

/** Why a bundle cannot count beside these; undefined where all that it needs is there. */
export function missingNeed({ manifest, id }: LoadedBundlePlugin, others: readonly LoadedBundlePlugin[]): string | undefined {
  const own = id.slice(id.lastIndexOf("@") + 1);
  for (const { name, version, marketplace } of manifest.dependencies) {
    const found = others.find((other) => other.name === name);
    const from = marketplace ?? (own === "inline" || own === "local" ? undefined : own);
    if (!found)
      return `It needs the plugin ${name}, which does not count (outrider plugins install ${name}${from ? `@${from}` : ""})`;
    const has = found.manifest.version;
    if (version !== undefined && !isWithin(has ?? "", version))
      return `It needs the plugin ${name} ${version}, and ${has ?? "one without a version"} is there`;
  }
  return undefined;
}

/** npm's ranges as far as plugins use them: `1.2.3`, `^1.2`, `~1.2.3`, `>=1 <2`, `1 - 2`, `1.x`, `*`, and `||` between two. */
export function isWithin(version: string, range: string): boolean {
  return wordsOf(range).some((words) => words.every((word) => fits(version, word)));
}

export function isRange(text: string): boolean {
  return wordsOf(text).every((words) =>
    words.every((word) => /^(?:>=|<=|[><=^~])?v?(?:[\dx*]+(?:\.[\dx*]+){0,2}(?:[-+][\w.+-]+)?)?$/i.test(word)),
  );
}

/** The words that must all hold, for each of the parts of which one must. */
function wordsOf(range: string): string[][] {
  return range.split("||").map((part) =>
    part
      .replace(/(\S+)\s+-\s+(\S+)/g, ">=$1 <=$2")
      .replace(/([<>=^~])\s+/g, "$1")
      .trim()
      .split(/\s+/),
  );
}

function fits(version: string, word: string): boolean {
  const [, sign = "", numbers = ""] = /^(>=|<=|>|<|=|\^|~|)v?(.*)$/.exec(word) ?? [];
  const parts = numbers.split(".").filter((part) => !/^[x*]?$/i.test(part));
  if (parts.length === 0) return true;
  const least = [...parts, "0", "0"].slice(0, Math.max(3, parts.length)).join(".");
  const order = compareVersions(version, least);
  if (!/^v?\d/.test(version)) return false;
  switch (sign) {
    case ">=":
      return order >= 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case "<":
      return order < 0;
    case "^":
      return order >= 0 && compareVersions(version, after(parts, Math.max(0, firstNumber(parts)))) < 0;
    case "~":
      return order >= 0 && compareVersions(version, after(parts, Math.min(1, parts.length - 1))) < 0;
    default:
      return parts.length >= 3 ? order === 0 : order >= 0 && compareVersions(version, after(parts, parts.length - 1)) < 0;
  }
}

/** The first version in which the number at this place is another one. */
function after(parts: readonly string[], at: number): string {
  const next = parts.slice(0, at + 1).map((part) => Number.parseInt(part, 10));
  next[at] = (next[at] ?? 0) + 1;
  return `${[...next, 0, 0].slice(0, 3).join(".")}-0`;
}

/** The place that a caret holds on to. */
function firstNumber(parts: readonly string[]): number {
  const at = parts.findIndex((part) => Number.parseInt(part, 10) > 0);
  return at < 0 ? parts.length - 1 : at;
}
