import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedSettings } from "../settings/settings.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import type { McpServerConfigs } from "../tools/mcp/server-config.ts";
import { claudeServerFile } from "../settings/home.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

/** The servers of a session, before any of them is started. */
export type ServerPlan = {
  readonly configs: McpServerConfigs;
  /** One that does not connect makes the session impossible. */
  readonly required: boolean;
  readonly connectTimeoutMs?: number | undefined;
  readonly callTimeoutMs?: number | undefined;
  /** Tools that take more tokens than this of every request are loaded on demand. */
  readonly toolSearchTokens?: number | undefined;
  /** Characters of a result where nobody says otherwise. */
  readonly outputLimit?: number | undefined;
  /** Where the user's logins are kept. */
  readonly loginFolder: string;
  /** Servers of a project that is not trusted. */
  readonly ignored: readonly string[];
};

/** Where servers may be written down. */
export type ServerGround = {
  readonly resolved: ResolvedSettings;
  readonly project: Project;
  readonly around: Surroundings;
  /** The agent that the conversation is: it may have servers of its own. */
  readonly mainAgent?: AgentDefinition | undefined;
};

/** The servers of the request, settings, Claude Code's own file and a trusted project's `.mcp.json`. Where there are none, nothing of MCP is loaded. */
export async function planServers(request: SessionRequest, ground: ServerGround): Promise<ServerPlan> {
  const { resolved, project, mainAgent } = ground;
  const isAlone = request.without?.includes("servers");
  const files = [join(project.root, ".mcp.json"), claudeServerFile(ground.around)];
  const isNamed = resolved.settings.mcpServers.length > 0 || files.some((file) => existsSync(file));
  const none = !request.mcpServers?.length && !mainAgent?.mcpServers && (isAlone || !isNamed);
  const found = none ? undefined : await (await import("./find-servers.ts")).findServers(request, ground);
  return {
    configs: found?.configs ?? new Map(),
    ignored: found?.ignored ?? [],
    required: request.requireServers ?? false,
    loginFolder: join(ground.around.outriderHome, "mcp-logins"),
    connectTimeoutMs: request.serverTimeouts?.connectMs ?? positive(ground, "MCP_TIMEOUT"),
    callTimeoutMs: request.serverTimeouts?.callMs ?? positive(ground, "MCP_TOOL_TIMEOUT"),
    toolSearchTokens: searchTokens(ground),
    outputLimit: outputLimit(ground),
  };
}

/** One percent of the windows that most models have. */
const percentTokens = 2_000;

/** Claude Code's variable: `true`, `false`, `auto`, or `auto:N` for N percent of a window of 200,000 tokens. */
function searchTokens({ resolved, around }: ServerGround): number | undefined {
  const value = (resolved.settings.env["ENABLE_TOOL_SEARCH"] ?? around.env["ENABLE_TOOL_SEARCH"] ?? "").toLowerCase();
  if (value === "true" || value === "1") return 0;
  if (value === "false" || value === "0") return Number.POSITIVE_INFINITY;
  const [, percent] = /^auto:(\d{1,3})$/.exec(value) ?? [];
  return percent === undefined ? undefined : Number(percent) * percentTokens;
}

/** Claude Code's variable counts tokens; four characters are one, roughly. */
function outputLimit(ground: ServerGround): number | undefined {
  const tokens = positive(ground, "MAX_MCP_OUTPUT_TOKENS");
  return tokens === undefined ? undefined : tokens * 4;
}

/** A number above zero, from settings or around. */
function positive({ resolved, around }: ServerGround, name: string): number | undefined {
  const value = Number(resolved.settings.env[name] ?? around.env[name]);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}
