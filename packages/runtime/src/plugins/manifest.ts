import { basename, join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { parseRule } from "../permissions/rules.ts";
import type { BundlePluginManifest, PluginRules } from "./plugin.ts";
import { parseNeeds } from "./plugin-needs.ts";
import { parseOptions } from "./plugin-options.ts";
import { isPluginName } from "./plugin-name.ts";
import { bundlePath, readBundleJson } from "./read-bundle.ts";

export type ReadManifest = {
  readonly manifest: BundlePluginManifest;
  /** Undefined where the bundle has none, and is called like its folder. */
  readonly file: string | undefined;
  /** Keys that nobody knows. */
  readonly unknown: readonly string[];
};

const places = [".claude-plugin/plugin.json", ".outrider-plugin/plugin.json"] as const;

/** What a bundle says about itself; `name` is what it is called where it says nothing. Throws a `config` error for what is wrongly written: nothing of such a bundle counts. */
export function readManifest(root: string, name: string = basename(root)): ReadManifest {
  for (const place of places) {
    const values = readBundleJson(root, place);
    if (values) return parseManifest(values, join(root, place));
  }
  return { ...parseManifest({ name }, root), file: undefined };
}

/** From the values of the file. */
function parseManifest(values: JsonObject, file: string): ReadManifest {
  const problems: string[] = [];
  const field = new Fields(values, problems);
  const name = values["name"];
  if (!isPluginName(name))
    problems.push(`name must be a word of letters, digits, - and _ (up to 64), and is ${JSON.stringify(name)?.slice(0, 80)}`);
  const manifest: BundlePluginManifest = {
    name: isPluginName(name) ? name : "",
    version: field.text("version"),
    description: field.text("description"),
    author: field.author(),
    keywords: field.texts("keywords") ?? [],
    homepage: field.text("homepage"),
    license: field.text("license"),
    engines: enginesIn(values["engines"]),
    defaultEnabled: field.flag("defaultEnabled") ?? true,
    skills: field.paths("skills") ?? [],
    commands: field.paths("commands"),
    agents: field.paths("agents"),
    outputStyles: field.paths("outputStyles"),
    userConfig: field.read("userConfig", parseOptions, "an object with a type for each key") ?? {},
    dependencies: field.read("dependencies", parseNeeds, "a list of names, or of objects with a name") ?? [],
    hooks: field.parts("hooks"),
    mcpServers: field.parts("mcpServers"),
    systemPrompt: field.text("systemPrompt"),
    permissions: field.rules(),
    settings: field.read("settings", (value) => (isJsonObject(value) ? value : undefined), "an object"),
  };
  for (const key of ["displayName", "repository", "$schema"]) field.text(key);
  if (problems.length > 0) throw new RuntimeError("config", `${file}: ${problems.join("; ")}`);
  const unknown = Object.keys(values).filter((key) => !known.has(key));
  return {
    manifest,
    file,
    unknown: unknown.map((key) => `${JSON.stringify(key)} of ${file}`),
  };
}

/** What is wrong about them costs no bundle: they are as Claude Code takes them. */
function enginesIn(value: JsonValue | undefined): BundlePluginManifest["engines"] {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value) || Object.values(value).some((range) => typeof range !== "string")) return "unusable";
  return value as Record<string, string>; // each value was looked at
}

/** Also keys that have a meaning for Claude Code or for marketplaces only. */
const known: ReadonlySet<string> = new Set(
  `$schema name displayName version description author homepage repository license keywords metadata engines defaultEnabled icon
  privacyPolicyUrl privacyPolicy skills commands agents workflows outputStyles hooks mcpServers lspServers settings userConfig channels
  dependencies experimental themes monitors category tags strict relevance source id headers headersHelper capabilities systemPrompt
  permissions`.split(/\s+/),
);

class Fields {
  readonly #values: JsonObject;
  readonly #problems: string[];

  constructor(values: JsonObject, problems: string[]) {
    this.#values = values;
    this.#problems = problems;
  }

  text(key: string): string | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === "string") return value;
    return this.#wrong(key, "a text");
  }

  flag(key: string): boolean | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === "boolean") return value;
    return this.#wrong(key, "true or false");
  }

  texts(key: string, values: JsonValue | undefined = this.#value(key)): string[] | undefined {
    if (values === undefined) return undefined;
    if (Array.isArray(values) && values.every((item) => typeof item === "string")) return values;
    return this.#wrong(key, "a list of texts");
  }

  read<T>(key: string, parse: (value: JsonValue) => T | undefined, expected: string): T | undefined {
    const value = this.#value(key);
    return value === undefined ? undefined : (parse(value) ?? this.#wrong(key, expected));
  }

  author(): string | undefined {
    const value = this.#value("author");
    if (value === undefined || typeof value === "string") return value;
    const name = isJsonObject(value) ? value["name"] : undefined;
    return typeof name === "string" ? name : this.#wrong("author", "an object with a name");
  }

  /** One path or several, all below the bundle. */
  paths(key: string): string[] | undefined {
    const value = this.#value(key);
    const written = typeof value === "string" ? [value] : this.texts(key, value);
    return written?.flatMap((path) => {
      const inside = bundlePath(path);
      return inside === undefined ? (this.#wrong(key, `a path below the plugin (${JSON.stringify(path)})`) ?? []) : [inside];
    });
  }

  /** Paths, or the thing itself. */
  parts(key: string): (string | JsonObject)[] {
    const value = this.#value(key);
    if (isJsonObject(value)) return [value];
    if (!Array.isArray(value)) return this.paths(key) ?? [];
    return value.flatMap((item): (string | JsonObject)[] => {
      if (isJsonObject(item)) return [item];
      const inside = typeof item === "string" ? bundlePath(item) : undefined;
      return inside === undefined ? (this.#wrong(key, `a path below the plugin (${JSON.stringify(item)})`) ?? []) : [inside];
    });
  }

  /** Outrider's own: what a bundle wants to forbid, to be asked about, or to allow. */
  rules(): PluginRules {
    const value = this.#value("permissions");
    if (value !== undefined && !isJsonObject(value)) this.#wrong("permissions", "an object with allow, ask and deny");
    const given = isJsonObject(value) ? value : {};
    const list = (key: string): string[] => {
      const texts = this.texts(`permissions.${key}`, given[key]) ?? [];
      for (const text of texts) {
        try {
          parseRule(text);
        } catch (error) {
          this.#problems.push(`permissions.${key}: ${error instanceof Error ? error.message : error}`);
        }
      }
      return texts;
    };
    return { allow: list("allow"), ask: list("ask"), deny: list("deny") };
  }

  #value(key: string): JsonValue | undefined {
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
    return value === null ? undefined : value;
  }

  #wrong(key: string, expected: string): undefined {
    this.#problems.push(`${key} must be ${expected}`);
    return undefined;
  }
}
