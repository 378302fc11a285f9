import { readFileSync, statSync } from "node:fs";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { claudeServerFile } from "../settings/home.ts";
import type { Surroundings } from "./surroundings.ts";

export type ClaudeServer = {
  readonly name: string;
  readonly server: JsonValue;
  /** For all of the user's projects, or for the one. */
  readonly scope: "user" | "local";
  /** In this project. */
  readonly isOff: boolean;
};

/** The file keeps much more than servers, and grows with the years. */
const maxBytes = 64 * 1024 * 1024;

type ClaudePlace = Pick<Surroundings, "userHome" | "claudeHome">;

/** Those of the user and those of the user in this project, which count before the others. A file that cannot be read holds none. */
export function claudeServers(place: ClaudePlace, folders: readonly string[]): readonly ClaudeServer[] {
  const file = readState(claudeServerFile(place));
  if (!file) return [];
  const projects = objectIn(file, "projects");
  const project = folders.map((folder) => objectIn(projects, folder)).find((found) => Object.keys(found).length > 0) ?? {};
  const off = Array.isArray(project["disabledMcpServers"]) ? project["disabledMcpServers"] : [];
  const found = new Map<string, ClaudeServer>();
  for (const [from, scope] of [[file, "user"] as const, [project, "local"] as const])
    for (const [name, server] of Object.entries(objectIn(from, "mcpServers")))
      found.set(name, { name, server, scope, isOff: off.includes(name) });
  return [...found.values()];
}

function readState(path: string): JsonObject | undefined {
  try {
    const { size } = statSync(path);
    const text = size <= maxBytes ? readFileSync(path, "utf8") : "";
    if (!/"mcpServers"\s*:\s*\{\s*"/.test(text)) return undefined; // as it is for most, and reading it as JSON takes its time
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // nobody's run depends on the notes of another program
  }
}

function objectIn(value: JsonObject, key: string): JsonObject {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return isJsonObject(found) ? found : {};
}
