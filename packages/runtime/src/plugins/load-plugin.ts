import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SkillFolder } from "../commands/skills/skill.ts";
import type { HookLimits } from "../hooks/config.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { isInside } from "../util/is-inside.ts";
import { readManifest } from "./manifest.ts";
import type { BundlePluginManifest, LoadedBundlePlugin, PluginServer } from "./plugin.ts";
import { loadPluginAgents } from "./plugin-agents.ts";
import { checkEngines } from "./plugin-engines.ts";
import { fillInAll, toHookSource, UnreadableHooks } from "./plugin-hooks.ts";
import { noOptions, type PluginOptionValues, toOptionValues } from "./plugin-options.ts";
import { pluginData, pluginVariables } from "./plugin-variables.ts";
import { readBundleJson } from "./read-bundle.ts";

export type PluginPlace = {
  readonly path: string;
  /** Before the `@` of its id, where somebody else has named it. */
  readonly name?: string | undefined;
  /** What it is called where neither it nor anybody else says it; like its folder when absent. */
  readonly fallbackName?: string | undefined;
  /** After the `@` of its id. */
  readonly marketplace: string;
  /** Where plugins of the user are kept. */
  readonly pluginHome: string;
  readonly hookLimits?: HookLimits | undefined;
  readonly withoutServers?: boolean | undefined;
  /** What its user has set of what it wants to know. */
  readonly valuesOf?: ((id: string) => Readonly<Record<string, JsonValue>>) | undefined;
  /** For values that name a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
};

/**
 * Reads a bundle in Claude Code's layout. A manifest that is wrong refuses it, and so does a hook that should judge calls and cannot
 * (`UnreadableHooks`); another part that is wrong is left out and told. Nothing runs.
 */
export async function loadPlugin({ path, marketplace, pluginHome, ...ways }: PluginPlace): Promise<LoadedBundlePlugin> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new RuntimeError("not-found", `There is no plugin at ${path}`);
  const root = realpathSync.native(path);
  const { manifest, unknown } = readManifest(root, ways.name ?? ways.fallbackName);
  const { name } = manifest;
  const id = `${ways.name ?? name}@${marketplace}`;
  const data = pluginData(pluginHome, id);
  const variables = pluginVariables({ root, data });
  const { valuesOf, env = {} } = ways;
  const options = valuesOf ? toOptionValues({ declared: manifest.userConfig, values: valuesOf(id), env }) : noOptions;
  const warnings = [...checkEngines(manifest), ...options.warnings];
  const bundle: Bundle = { root, manifest, variables, options, warnings };
  return {
    ...{ manifest, name, id, path: root, data, variables, warnings },
    skillFolders: skillFoldersOf(bundle),
    agents: await loadPluginAgents(bundle),
    ...hooksOf(bundle, ways.hookLimits ?? {}),
    servers: ways.withoutServers ? [] : serversOf(bundle),
    outputStyles: foldersOf(bundle, manifest.outputStyles ?? ["output-styles"]),
    bin: foldersOf(bundle, ["bin"])[0],
    mainAgent: mainAgentOf(bundle),
    unused: [...unknown, ...unusedParts.filter((part) => existsSync(join(root, part)))],
  };
}

/** What a bundle may hold that only Claude Code makes something of. */
const unusedParts = ["workflows", "themes", "monitors", ".lsp.json"];

/** A folder without a manifest that holds nothing but bundles is many bundles. */
export function bundlesIn(path: string): string[] {
  if (isBundle(path)) return [path];
  const below = namesIn(path).map((name) => join(path, name));
  const found = below.filter((child) => hasManifest(child));
  return found.length > 0 ? found : [path];
}

const parts = ["skills", "commands", "agents", "hooks", "output-styles", ".mcp.json", "SKILL.md", "bin"];

function isBundle(path: string): boolean {
  return hasManifest(path) || parts.some((part) => existsSync(join(path, part)));
}

function hasManifest(path: string): boolean {
  return [".claude-plugin", ".outrider-plugin"].some((folder) => existsSync(join(path, folder, "plugin.json")));
}

export type Bundle = {
  readonly root: string;
  readonly manifest: BundlePluginManifest;
  readonly variables: Readonly<Record<string, string>>;
  readonly options: PluginOptionValues;
  readonly warnings: string[];
};

function skillFoldersOf(bundle: Bundle): SkillFolder[] {
  const { root, manifest, variables, options } = bundle;
  const plugin = { name: manifest.name, variables: { ...variables, ...options.shown } };
  const folder = (name: string, kind: SkillFolder["kind"]): SkillFolder => ({
    path: join(root, name),
    kind,
    scope: "user",
    within: root,
    plugin,
  });
  const alone = existsSync(join(root, "skills")) ? [] : ["."];
  const skills = [...new Set(["skills", ...alone, ...manifest.skills])];
  return [
    ...skills.map((name) => folder(name, "skill")),
    ...(manifest.commands ?? ["commands"]).map((name) => folder(name, "command")),
  ];
}

function hooksOf(
  { root, manifest, variables, options, warnings }: Bundle,
  limits: HookLimits,
): Pick<LoadedBundlePlugin, "hooks" | "writtenHooks" | "unheardHooks"> {
  const files = ["hooks/hooks.json", ...manifest.hooks.filter((part) => part !== "hooks/hooks.json")];
  const read = files.flatMap((part) => {
    const file = typeof part === "string" ? readHooks(root, part) : { hooks: part["hooks"] ?? part };
    if (!file) return [];
    const source = typeof part === "string" ? join(root, part) : `${join(root, ".claude-plugin/plugin.json")}`;
    return [toHookSource(file, { source, variables, options, limits })];
  });
  warnings.push(...read.flatMap((one) => one.warnings));
  return {
    hooks: read.flatMap(({ hooks }) => hooks ?? []),
    writtenHooks: read.map(({ written }) => written),
    unheardHooks: read.flatMap(({ unheard }) => unheard),
  };
}

/** The usual file may be missing, one that the manifest names may not. */
function readHooks(root: string, part: string): JsonObject | undefined {
  let file: JsonObject | undefined;
  try {
    file = readBundleJson(root, part);
  } catch (error) {
    throw new UnreadableHooks(toRuntimeError(error).message);
  }
  if (!file && part !== "hooks/hooks.json") throw new UnreadableHooks(`${join(root, part)} is not there`);
  return file;
}

function serversOf({ root, manifest, options, warnings }: Bundle): PluginServer[] {
  const parts = [".mcp.json", ...manifest.mcpServers.filter((part) => part !== ".mcp.json")];
  const found = new Map<string, PluginServer>();
  for (const part of parts) {
    const source = typeof part === "string" ? join(root, part) : join(root, ".claude-plugin/plugin.json");
    const file = typeof part === "string" ? readServers(root, part, warnings) : part;
    const servers = file && isJsonObject(file["mcpServers"]) ? file["mcpServers"] : file;
    for (const [name, value] of Object.entries(servers ?? {}))
      if (!isJsonObject(value)) warnings.push(`${source}: the server ${JSON.stringify(name)} must be an object; it was left out`);
      else {
        const other = found.get(name);
        if (other) warnings.push(`${source}: the server ${JSON.stringify(name)} takes the place of the one in ${other.source}`);
        found.set(name, { name, value: withOptions(value, options), source });
      }
  }
  return [...found.values()];
}

/** A secret does not go where every user of the machine sees it: such a place stays as it is written, and the server fails with it. */
function withOptions(server: JsonObject, { places, secrets }: PluginOptionValues): JsonObject {
  const visible = Object.fromEntries(Object.entries(places).filter(([name]) => !secrets.includes(name)));
  return Object.fromEntries(
    Object.entries(server).map(([key, value]) => {
      if (key === "headersHelper") return [key, value]; // nobody's words become a part of a line for a shell
      return [key, fillInAll(value, key === "command" || key === "args" ? visible : places)];
    }),
  );
}

/** Its settings have one key that means something: which of its agents a conversation is. */
function mainAgentOf({ root, manifest, warnings }: Bundle): string | undefined {
  try {
    const { agent } = { ...manifest.settings, ...readBundleJson(root, "settings.json") };
    if (agent === undefined) return undefined;
    if (typeof agent !== "string")
      throw new RuntimeError("config", `${root}: agent in its settings must be the name of an agent`);
    return agent.startsWith(`${manifest.name}:`) ? agent : `${manifest.name}:${agent}`;
  } catch (error) {
    warnings.push(`${toRuntimeError(error).message}; it was left out`);
    return undefined;
  }
}

/** The usual file may be missing, one that the manifest names may not. */
function readServers(root: string, name: string, warnings: string[]): JsonObject | undefined {
  try {
    if (!name.endsWith(".json")) throw new RuntimeError("config", `${join(root, name)} is no JSON file`);
    const file = readBundleJson(root, name);
    if (!file && name !== ".mcp.json") throw new RuntimeError("config", `${join(root, name)} is not there`);
    return file;
  } catch (error) {
    warnings.push(`${error instanceof Error ? error.message : error}; its servers were left out`);
    return undefined;
  }
}

/** Folders that are there, and really inside. */
function foldersOf({ root }: Pick<Bundle, "root">, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const path = join(root, name);
    if (!existsSync(path)) return [];
    return isInside(root, realpathSync.native(path)) ? [path] : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
