import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import type { PluginOption } from "./plugin.ts";

/** What a bundle is told of the values that its user has set. */
export type PluginOptionValues = {
  /** For its hooks: `CLAUDE_PLUGIN_OPTION_KEY`. */
  readonly env: Readonly<Record<string, string>>;
  /** For programs and addresses, as `${user_config.KEY}`. */
  readonly places: Readonly<Record<string, string>>;
  /** For texts that models read: those that are no secrets. */
  readonly shown: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly warnings: readonly string[];
};

export const noOptions: PluginOptionValues = { env: {}, places: {}, shown: {}, secrets: [], warnings: [] };

type Given = {
  readonly declared: Readonly<Record<string, PluginOption>>;
  readonly values: Readonly<Record<string, JsonValue>>;
  /** What `$ENV:NAME` stands for. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Only values that somebody has set: what a bundle proposes for itself is its own affair. One that does not fit is left out, and told. */
export function toOptionValues({ declared, values, env }: Given): PluginOptionValues {
  const warnings: string[] = [];
  const set = Object.entries(declared).flatMap(([key, option]) => {
    const value = Object.hasOwn(values, key) ? textOf(values[key], option, env) : undefined;
    if (value === undefined && Object.hasOwn(values, key))
      warnings.push(`the option ${key} must be a ${option.type}; it was left out`);
    else if (value === undefined && option.required) warnings.push(`the option ${key} is needed and not set`);
    return value === undefined ? [] : [{ key, value, isSecret: option.sensitive }];
  });
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(declared, key));
  if (unknown.length > 0) warnings.push(`it has no option ${unknown.join(", ")}`);
  const place = (key: string): string => `user_config.${key}`;
  return {
    env: Object.fromEntries(set.map(({ key, value }) => [`CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}`, value])),
    places: Object.fromEntries(set.map(({ key, value }) => [place(key), value])),
    shown: Object.fromEntries(set.flatMap(({ key, value, isSecret }) => (isSecret ? [] : [[place(key), value]]))),
    secrets: set.flatMap(({ key, isSecret }) => (isSecret ? [place(key)] : [])),
    warnings,
  };
}

function textOf(value: JsonValue | undefined, { type }: PluginOption, env: Given["env"]): string | undefined {
  if (Array.isArray(value)) {
    const texts = value.map((item) => textOf(item, { type } as PluginOption, env)); // the type alone is looked at
    return texts.every((text) => text !== undefined) ? texts.join(",") : undefined;
  }
  if (type === "number") return typeof value === "number" ? String(value) : undefined;
  if (type === "boolean") return typeof value === "boolean" ? String(value) : undefined;
  if (typeof value !== "string") return undefined;
  return value.startsWith("$ENV:") ? env[value.slice("$ENV:".length)] : value;
}

const types = ["string", "number", "boolean", "directory", "file"] as const;

/** `userConfig` of a manifest; undefined for what is none. */
export function parseOptions(value: JsonValue): Record<string, PluginOption> | undefined {
  if (!isJsonObject(value)) return undefined;
  const found: Record<string, PluginOption> = {};
  for (const [key, entry] of Object.entries(value)) {
    const type = isJsonObject(entry) ? types.find((known) => known === (entry["type"] ?? "string")) : undefined;
    if (!isJsonObject(entry) || type === undefined || !/^[A-Za-z]\w*$/.test(key)) return undefined;
    const { title, description, sensitive, required } = entry;
    found[key] = {
      type,
      sensitive: sensitive === true,
      required: required === true,
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
    };
  }
  return found;
}
