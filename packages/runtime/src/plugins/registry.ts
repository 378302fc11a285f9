import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { PluginSource } from "./plugin-source.ts";

/** A plugin as somebody has installed it. */
export type InstalledPlugin = {
  readonly id: string;
  readonly path: string;
  readonly version: string;
  readonly installedAt: string;
  readonly lastUpdated: string;
  /** Of its files when they were shown and accepted; absent for what Claude Code has installed. */
  readonly contentHash?: string | undefined;
  /** Where it came from; absent where its marketplace knows. */
  readonly from?: PluginSource | undefined;
  readonly commit?: string | undefined;
};

export function registryFile(pluginHome: string): string {
  return join(pluginHome, "installed_plugins.json");
}

/** What is installed here, by id. Claude Code's file has the same shape. */
export function readRegistry(pluginHome: string): Map<string, InstalledPlugin> {
  const file = registryFile(pluginHome);
  const values = readIfThere(file);
  const plugins = values?.["plugins"];
  if (values && !isJsonObject(plugins)) throw new RuntimeError("config", `${file} has no list of plugins`);
  return new Map(
    Object.entries(isJsonObject(plugins) ? plugins : {}).flatMap(([id, records]) => {
      const record = (Array.isArray(records) ? records : [records]).find(isJsonObject);
      const found = record && toInstalled(id, record);
      return found ? [[id, found] as const] : [];
    }),
  );
}

export function toRegistryText(plugins: Iterable<InstalledPlugin>): string {
  const records = [...plugins].map(({ id, path, ...rest }) => [id, [{ scope: "user", installPath: path, ...rest }]] as const);
  return `${JSON.stringify({ version: 2, plugins: Object.fromEntries(records) }, null, 2)}\n`;
}

function toInstalled(id: string, record: JsonObject): InstalledPlugin | undefined {
  const { installPath: path, version, installedAt, lastUpdated, contentHash, from, commit } = record;
  if (typeof path !== "string" || path === "") return undefined;
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return {
    ...{ id, path, version: text(version) ?? "unknown" },
    ...{ installedAt: text(installedAt) ?? "", lastUpdated: text(lastUpdated) ?? "" },
    ...{ contentHash: text(contentHash), commit: text(commit) },
    from: isJsonObject(from) && typeof from["type"] === "string" ? (from as unknown as PluginSource) : undefined, // we wrote it
  };
}

function readIfThere(file: string): JsonObject | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new RuntimeError("config", `${file} cannot be read: ${message}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // told below
  }
  throw new RuntimeError("config", `${file} is no JSON object`, { hint: "Move it away, and install its plugins again" });
}
