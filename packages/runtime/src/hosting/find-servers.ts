import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { type McpServerConfigs, parseMcpServers } from "../tools/mcp/server-config.ts";
import type { ServerGround } from "./plan-servers.ts";
import type { SessionRequest } from "./session-request.ts";

type ServerSource = { readonly value: unknown; readonly source: string; readonly kind: string };

/** The servers that somebody has written down and that count, the most particular last. */
export async function findServers(request: SessionRequest, ground: ServerGround): Promise<McpServerConfigs> {
  const isAlone = request.without?.includes("servers");
  const isOfProject = request.settingSources?.includes("project") ?? true;
  const { mcpServers } = ground.resolved.settings;
  const sources: ServerSource[] = [
    ...(isAlone || !isOfProject ? [] : await projectServers(ground)),
    ...(isAlone ? [] : mcpServers.map(({ name, value, source }) => ({ value: { [name]: value }, source, kind: "user" }))),
    ...(request.mcpServers ?? []).map((server) => ({ ...server, kind: "dynamic" })),
  ];
  const { env } = ground.around;
  const found = sources.flatMap(({ value, source, kind }) =>
    [...parseMcpServers(value, { source, env, keepsBroken: true })].map(
      ([name, config]) => [name, { ...config, source: kind }] as const,
    ),
  );
  // A server that lives in a host is the host's to name: in `initialize`, or as the Python SDK does it, in its flag.
  return new Map(found.filter(([, { type, source }]) => type !== "sdk" || source === "dynamic"));
}

/** A `.mcp.json` runs programs: only a trusted project's counts, and of it only what the settings do not switch off. */
async function projectServers({ resolved, project: { root, trust } }: ServerGround): Promise<ServerSource[]> {
  const path = join(root, ".mcp.json");
  const text = readIfThere(path);
  if (text === undefined) return [];
  const { enabledMcpjsonServers, disabledMcpjsonServers, enableAllProjectMcpServers } = resolved.settings;
  if (!(await trust()).trusted) return [];
  const value = parseJson(text, path);
  const servers = isJsonObject(value) && isJsonObject(value["mcpServers"]) ? value["mcpServers"] : {};
  const chosen = Object.entries(servers).filter(([name]) => {
    if (disabledMcpjsonServers.includes(name)) return false;
    return enableAllProjectMcpServers || enabledMcpjsonServers.length === 0 || enabledMcpjsonServers.includes(name);
  });
  return chosen.map(([name, server]) => ({ value: { [name]: server }, source: path, kind: "project" }));
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RuntimeError("config", `${source} is not valid JSON`);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
