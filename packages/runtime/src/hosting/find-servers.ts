import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import { type McpServerConfig, type McpServerConfigs, parseMcpServers, serversIn } from "../tools/mcp/server-config.ts";
import { claudeServerFile } from "../settings/home.ts";
import { type ClaudeServer, claudeServers } from "./claude-servers.ts";
import type { ServerGround } from "./plan-servers.ts";
import type { SessionRequest } from "./session-request.ts";

type ServerSource = { readonly value: unknown; readonly source: string; readonly kind: string };

export type FoundServers = {
  readonly configs: McpServerConfigs;
  /** What counts only once the project is trusted. */
  readonly ignored: readonly string[];
};

/** The servers that somebody has written down and that count, the most particular last. */
export async function findServers(request: SessionRequest, ground: ServerGround): Promise<FoundServers> {
  const isAlone = request.without?.includes("servers");
  const isOfProject = request.settingSources?.includes("project") ?? true;
  const { mcpServers } = ground.resolved.settings;
  const { mainAgent } = ground;
  const written = isAlone || !isOfProject ? [] : projectServers(ground);
  const isOfUser = !isAlone && (request.settingSources?.includes("user") ?? true);
  const { around, project } = ground;
  const kept = isOfUser ? claudeServers(around, [project.root, project.cwd]).filter(({ isOff }) => !isOff) : [];
  const file = claudeServerFile(around);
  const keptAs = (wanted: ClaudeServer["scope"]): ServerSource[] =>
    kept.flatMap(({ name, server, scope }) =>
      scope === wanted ? [{ value: { [name]: server }, source: file, kind: scope }] : [],
    );
  const isTrusted = written.length > 0 && (await ground.project.trust()).trusted;
  const sources: ServerSource[] = [
    ...keptAs("user"),
    ...(isTrusted ? written.filter((one) => !isUnreadable(one)).map(toSource) : []),
    ...keptAs("local"),
    ...(isAlone ? [] : mcpServers.map(({ name, value, source }) => ({ value: { [name]: value }, source, kind: "user" }))),
    ...(mainAgent?.mcpServers
      ? [{ value: { mcpServers: mainAgent.mcpServers }, source: mainAgent.source, kind: "dynamic" }]
      : []),
    ...(request.mcpServers ?? []).map((server) => ({ ...server, kind: "dynamic" })),
  ];
  const { env } = ground.around;
  const found = sources.flatMap(({ value, source, kind }) =>
    [...parseMcpServers(value, { source, env, keepsBroken: true })].map(
      ([name, config]) => [name, { ...config, source: kind }] as const,
    ),
  );
  const broken = (isTrusted ? written.filter(isUnreadable) : []).map(({ name, path }) => {
    return [name, { type: "broken", problem: `${path} is not valid JSON`, source: "project" }] as const;
  });
  // A server that lives in a host is the host's to name: in `initialize`, or as the Python SDK does it, in its flag.
  const configs = new Map<string, McpServerConfig>(
    [...broken, ...found].filter(([, { type, source }]) => type !== "sdk" || source === "dynamic"),
  );
  const shown = (one: WrittenServer): string => `mcpServers.${isUnreadable(one) ? "*" : one.name} (${one.path})`;
  return { configs, ignored: isTrusted ? [] : written.map(shown) };
}

type WrittenServer = { readonly name: string; readonly path: string; readonly server: JsonValue | undefined };

function toSource({ name, path, server = {} }: WrittenServer): ServerSource {
  return { value: { [name]: server }, source: path, kind: "project" };
}

/** A file that cannot be read costs its own servers only, as one of them would that is written wrongly. */
function isUnreadable({ server }: WrittenServer): boolean {
  return server === undefined;
}

/** What a `.mcp.json` offers, less what the settings switch off. It runs programs: it counts for a trusted project only. */
function projectServers({ resolved, project: { root } }: ServerGround): WrittenServer[] {
  const path = join(root, ".mcp.json");
  const text = readIfThere(path);
  if (text === undefined) return [];
  const { enabledMcpjsonServers, disabledMcpjsonServers, enableAllProjectMcpServers } = resolved.settings;
  const value = parseJson(text);
  if (value === undefined) return [{ name: ".mcp.json", path, server: undefined }];
  const written = isJsonObject(value) ? serversIn(value) : undefined;
  const servers = isJsonObject(written) && written !== value ? written : {};
  const chosen = Object.entries(servers).filter(([name]) => {
    if (disabledMcpjsonServers.includes(name)) return false;
    return enableAllProjectMcpServers || enabledMcpjsonServers.length === 0 || enabledMcpjsonServers.includes(name);
  });
  return chosen.map(([name, server]) => ({ name, path, server }));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue; // JSON.parse gives nothing else
  } catch {
    return undefined;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
