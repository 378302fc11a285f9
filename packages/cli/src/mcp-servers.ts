import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError, type SessionOptions } from "@outrider/runtime";
import type { McpOptions, McpServerConfigs, McpServers, McpServerState } from "@outrider/runtime/mcp";
import type { ResolvedSettings } from "@outrider/runtime/host";
import type { TrustJudgement } from "@outrider/runtime/admin";
import { duration } from "./numbers.ts";
import type { FlagValues } from "./flags.ts";

export type McpPlan = {
  readonly flags: FlagValues;
  readonly resolved: ResolvedSettings;
  readonly root: string;
  readonly trust: () => Promise<TrustJudgement>;
};

/** The servers of flags, settings and a trusted project's `.mcp.json`; undefined when there are none, and then nothing of MCP is loaded. */
export async function planMcpServers({ flags, resolved, root, trust }: McpPlan): Promise<McpServerConfigs | undefined> {
  const strict = flags["strict-mcp-config"] || flags.bare;
  const isOfProject = flags["setting-sources"]?.split(",").some((word) => word.trim() === "project") ?? true;
  const sources = [
    ...(strict || !isOfProject ? [] : await projectServers({ resolved, root, trust })),
    ...(strict
      ? []
      : resolved.settings.mcpServers.map(({ name, value, source }) => ({ value: { [name]: value }, source, kind: "user" }))),
    ...(flags["mcp-config"] ?? []).map((text) => ({ value: readConfig(text), source: "--mcp-config", kind: "dynamic" })),
  ];
  if (sources.length === 0) return undefined;
  const { parseMcpServers } = await import("@outrider/runtime/mcp");
  const found = sources.flatMap(({ value, source, kind }) =>
    [...parseMcpServers(value, { source, env: process.env })].map(
      ([name, config]) => [name, { ...config, source: kind }] as const,
    ),
  );
  // A server that lives in a host is the host's to name: in `initialize`, or as the Python SDK does it, in this flag.
  const servers = found.filter(([, { type, source }]) => type !== "sdk" || source === "dynamic");
  return servers.length === 0 ? undefined : new Map(servers);
}

/** After this long whoever watches is told what is being waited for. */
const patienceMs = 2_000;

/** Connects them all, each within its time. What does not connect is told, and with `--require-mcp` the run does not begin. `giveUp`: none, then. */
export async function connectMcpServers(
  configs: McpServerConfigs,
  flags: FlagValues,
  options: Omit<McpOptions, "connectTimeoutMs" | "onState"> & { warn: (line: string) => void; giveUp?: AbortSignal },
): Promise<McpServers> {
  const { McpServers } = await import("@outrider/runtime/mcp");
  const timeout = flags["mcp-timeout"];
  const servers = new McpServers({
    ...options,
    ...connectTime(timeout),
    ...milliseconds("MCP_TOOL_TIMEOUT", "callTimeoutMs"),
  });
  const waiting = setTimeout(() => {
    const names = servers.states.filter(({ status }) => status === "pending").map(({ name }) => name);
    options.warn(
      `waiting for MCP ${names.length === 1 ? "server" : "servers"} ${names.join(", ")} (--mcp-timeout ${timeout ?? "10s"})`,
    );
  }, patienceMs);
  const leave = (): void => void servers.close();
  options.giveUp?.addEventListener("abort", leave, { once: true });
  await servers.connect(configs).finally(() => clearTimeout(waiting));
  options.giveUp?.removeEventListener("abort", leave);
  const failed = servers.states.filter(({ status }) => status !== "connected");
  for (const state of failed) options.warn(describe(state));
  if (failed.length > 0 && flags["require-mcp"]) {
    await servers.close();
    throw new RuntimeError("config", failed.map(describe).join("; "), { hint: "Mend it, or run without --require-mcp" });
  }
  return servers;
}

/** The flag, else Claude Code's variable for it. */
function connectTime(flag: string | undefined): Pick<McpOptions, "connectTimeoutMs"> {
  return flag === undefined
    ? milliseconds("MCP_TIMEOUT", "connectTimeoutMs")
    : { connectTimeoutMs: duration("--mcp-timeout", flag) };
}

function milliseconds<K extends "connectTimeoutMs" | "callTimeoutMs">(variable: string, key: K): Pick<McpOptions, K> | object {
  const value = Number(process.env[variable]);
  return Number.isFinite(value) && value > 0 ? { [key]: value } : {};
}

/** What is to be asked about or refused of the servers' tools, beside the rules of settings. */
export function withServerRules(
  permissions: SessionOptions["permissions"],
  { rules }: McpServers,
): NonNullable<SessionOptions["permissions"]> {
  const written = (texts: readonly string[]): { text: string; source: string }[] =>
    texts.map((text) => ({ text, source: "mcpServers" }));
  return {
    ...permissions,
    ask: [...(permissions?.ask ?? []), ...written(rules.ask)],
    deny: [...(permissions?.deny ?? []), ...written(rules.deny)],
  };
}

function describe({ name, status, error }: McpServerState): string {
  return `MCP server ${name} is not connected (${status}): ${error ?? "no reason given"}`;
}

/** A `.mcp.json` runs programs: only a trusted project's counts, and of it only what the settings do not switch off. */
async function projectServers({
  resolved,
  root,
  trust,
}: Omit<McpPlan, "flags">): Promise<{ value: unknown; source: string; kind: string }[]> {
  const path = join(root, ".mcp.json");
  const text = readIfThere(path);
  if (text === undefined) return [];
  const { enabledMcpjsonServers, disabledMcpjsonServers, enableAllProjectMcpServers } = resolved.settings;
  if (!(await trust()).trusted) return [];
  const value = parseJson(text, path);
  const servers = isObject(value) && isObject(value["mcpServers"]) ? value["mcpServers"] : {};
  const chosen = Object.entries(servers).filter(([name]) => {
    if (disabledMcpjsonServers.includes(name)) return false;
    return enableAllProjectMcpServers || enabledMcpjsonServers.length === 0 || enabledMcpjsonServers.includes(name);
  });
  return chosen.map(([name, server]) => ({ value: { [name]: server }, source: path, kind: "project" }));
}

function readConfig(text: string): unknown {
  if (text.trim().startsWith("{")) return parseJson(text, "--mcp-config");
  const content = readIfThere(text);
  if (content === undefined) throw new RuntimeError("config", `--mcp-config: ${text} cannot be read`);
  return parseJson(content, text);
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
