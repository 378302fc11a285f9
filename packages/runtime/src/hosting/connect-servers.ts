import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { OwnServers } from "../session/session-options.ts";
import { type McpOptions, McpServers } from "../tools/mcp/mcp-servers.ts";
import { parseMcpServers } from "../tools/mcp/server-config.ts";
import type { McpServerState } from "../tools/mcp/server-state.ts";
import type { ServerPlan } from "./plan-servers.ts";

/** How servers are reached, and who is told of them. */
export type ServerWays = Pick<McpOptions, "cwd" | "env" | "elicit" | "hostTransport" | "onToolsChanged"> & {
  readonly warn: (line: string) => void;
  /** None is worth waiting for any more. */
  readonly giveUp?: AbortSignal | undefined;
};

/** After this long it is told what is being waited for. */
const patienceMs = 2_000;
const usualConnectMs = 10_000;

/** Connects them all, each within its time. What does not connect is told; where servers are required, it is an error. */
export async function connectServers(plan: ServerPlan, { warn, giveUp, ...ways }: ServerWays): Promise<McpServers> {
  const { connectTimeoutMs, callTimeoutMs, loginFolder, toolSearchTokens, outputLimit } = plan;
  const limits = { connectTimeoutMs, callTimeoutMs, toolSearchTokens, outputLimit };
  const servers = new McpServers({ ...ways, ...limits, warn, loginFolder });
  if (plan.configs.size === 0) return servers;
  const waiting = setTimeout(() => {
    const names = servers.states.filter(({ status }) => status === "pending").map(({ name }) => name);
    const seconds = (connectTimeoutMs ?? usualConnectMs) / 1000;
    warn(`waiting for MCP ${names.length === 1 ? "server" : "servers"} ${names.join(", ")}, at most ${seconds} s`);
  }, patienceMs);
  const leave = (): void => void servers.close();
  giveUp?.addEventListener("abort", leave, { once: true });
  await servers.connect(plan.configs).finally(() => {
    clearTimeout(waiting);
    giveUp?.removeEventListener("abort", leave);
  });
  const failed = servers.states.filter(({ status }) => status !== "connected" && status !== "disabled");
  if (!plan.required) for (const state of failed) warn(describe(state));
  else if (failed.length > 0) {
    await servers.close();
    throw new RuntimeError("config", failed.map(describe).join("; "), {
      hint: "Mend it, or do not require it (requireServers, --require-mcp)",
    });
  }
  return servers;
}

type OwnPlace = {
  /** Where they are written. */
  readonly source: string;
  /** The session's: the same limits hold. */
  readonly plan: ServerPlan;
  readonly cwd: string;
  readonly env: NonNullable<ServerWays["env"]>;
};

/** Servers that belong to one agent. Nobody is there whom they could ask something. */
export async function openOwnServers(written: JsonObject, { source, plan, cwd, env }: OwnPlace): Promise<OwnServers> {
  const configs = parseMcpServers({ mcpServers: written }, { source, env, keepsBroken: true });
  const warnings: string[] = [];
  const warn = (line: string): void => void warnings.push(line);
  const servers = await connectServers({ ...plan, configs, required: false }, { cwd, env, warn });
  return { tools: servers.tools, ...servers.rules, warnings, close: () => servers.close() };
}

function describe({ name, status, error }: McpServerState): string {
  const hint = status === "needs-auth" ? ` (outrider mcp login ${name})` : "";
  return `MCP server ${name} is not connected (${status}): ${error ?? "no reason given"}${hint}`;
}
