import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { createFileStore, InteractiveSession, type PermissionMode, RuntimeError } from "@outrider/runtime";
import type { AcpHost, McpServer, PlannedSession, SessionWish } from "@outrider/runtime/acp";
import { listCatalog } from "@outrider/runtime/admin";
import { loadCallPrice } from "@outrider/runtime/atif";
import { noSettings, outriderHome, randomUuid, resolveLayers } from "@outrider/runtime/host";
import type { McpServerConfig, McpServerConfigs, McpServers } from "@outrider/runtime/mcp";
import { chooseProvider } from "./choose-provider.ts";
import { removeSession } from "./commands/remove-session.ts";
import { watchDebug } from "./debug-log.ts";
import type { FlagValues } from "./flags.ts";
import { withMainAgent } from "./main-agent.ts";
import { connectMcpServers, withServerRules } from "./mcp-servers.ts";
import { type Planned, planSession } from "./plan-session.ts";
import { lookAtProject } from "./project.ts";

declare const OUTRIDER_VERSION: string;

/** Sessions for ACP clients, planned like those of any other front end: from flags, settings and the folder the client names. */
export function createAcpHost(flags: FlagValues, warn: (line: string) => void): AcpHost {
  const home = outriderHome(process.env);
  const store = flags["no-session-persistence"] ? undefined : createFileStore(join(home, "sessions"));
  return {
    version: OUTRIDER_VERSION,
    store,
    warn,
    plan: (wish) => plan(wish, { flags, warn }),
    checkKey: () => checkKey(flags, process.cwd(), warn),
    async removeSession(sessionId) {
      const problem = store && (await removeSession({ store, home }, sessionId));
      if (problem) throw new RuntimeError(problem.isInUse ? "session-locked" : "storage-failed", problem.reason);
    },
  };
}

type Context = { readonly flags: FlagValues; readonly warn: (line: string) => void };

async function plan(wish: SessionWish, context: Context): Promise<PlannedSession> {
  checkFolder(wish.cwd);
  const clientServers = toConfigs(wish.mcpServers);
  const { flags, warn } = context;
  const sessionId = wish.resume ?? randomUuid();
  const own: FlagValues = {
    ...flags,
    cwd: wish.cwd,
    ...(wish.resume === undefined ? { "session-id": sessionId } : { resume: wish.resume }),
    "add-dir": [...(flags["add-dir"] ?? []), ...wish.additionalDirectories],
  };
  const first = await planWithKey(own, warn);
  const servers = openServers(first, clientServers, context);
  return await toPlan({ sessionId, own, warn, servers }, first);
}

type Planning = {
  readonly sessionId: string;
  readonly own: FlagValues;
  readonly warn: (line: string) => void;
  readonly servers: Servers;
};

async function toPlan(planning: Planning, planned: Planned, chosen?: string): Promise<PlannedSession> {
  const { sessionId, own, warn, servers } = planning;
  const ownModel = planned.options.model ?? planned.options.provider.model;
  const asAgent = own.agent === undefined ? planned.options : await withMainAgent(planned.options, own.agent, warn);
  const options = chosen === undefined ? asAgent : { ...asAgent, model: ownModel };
  const { provider, catalogOverride } = options;
  const answersPermissions = own["permission-prompts"] !== "none";
  const listed = await listCatalog(provider.name, catalogOverride);
  return {
    sessionId,
    cwd: options.cwd,
    provider: provider.name,
    model: options.model ?? provider.model,
    models: listed.models.map(({ id, contextWindow }) => ({
      id,
      ...(contextWindow !== undefined && { description: `${contextWindow.toLocaleString("en")} tokens of context` }),
    })),
    permissionMode: options.permissionMode ?? "default",
    mayBypass: options.permissions?.mayBypass ?? false,
    answersPermissions,
    price: await loadCallPrice(catalogOverride),
    withModel: async (model) => await toPlan(planning, await planWithKey({ ...own, model }, warn), model),
    async start(permissionMode: PermissionMode) {
      const mcp = await servers.connected;
      const session = new InteractiveSession({
        ...options,
        permissionMode,
        answersPermissions,
        ...(mcp && {
          tools: [...(options.tools ?? []), ...mcp.tools],
          permissions: withServerRules(options.permissions, mcp),
        }),
      });
      servers.onToolsChanged = async () => (await session.controls()).replaceTools(mcp?.tools ?? []);
      watchDebug(session, own);
      return session;
    },
    close: () => servers.close(),
  };
}

interface Servers {
  readonly connected: Promise<McpServers | undefined>;
  onToolsChanged: () => Promise<void>;
  close(): Promise<void>;
}

/** Begun at once and waited for with the first prompt: a session is there before a slow server is. */
function openServers(planned: Planned, clientServers: McpServerConfigs, { flags, warn }: Context): Servers {
  const { cwd, env = {} } = planned.options;
  const configs = new Map([...(planned.mcpServers ?? []), ...clientServers]);
  const leaving = new AbortController();
  const onToolsChanged = (): void => void servers.onToolsChanged().catch(() => {}); // a session that cannot be opened says so itself
  const connected =
    configs.size === 0
      ? Promise.resolve(undefined)
      : connectMcpServers(configs, flags, { cwd, env, onToolsChanged, warn, giveUp: leaving.signal });
  connected.catch(() => {}); // told by the prompt that needs them
  const servers: Servers = {
    connected,
    onToolsChanged: async () => {},
    async close() {
      leaving.abort(); // also one that is still being waited for
      await (await connected.catch(() => undefined))?.close();
    },
  };
  return servers;
}

/** Client's words to ours. They are literal: nothing in them stands for a variable. */
function toConfigs(servers: readonly McpServer[]): McpServerConfigs {
  return new Map(
    servers.map((server): [string, McpServerConfig] => {
      if (!/[A-Za-z0-9]/.test(server.name))
        throw new RuntimeError("usage", `The MCP server ${JSON.stringify(server.name)} needs a name with a letter or a digit`);
      const pairs = (list: readonly { name: string; value: string }[]): Record<string, string> =>
        Object.fromEntries(list.map(({ name, value }) => [name, value]));
      if (server.type === undefined) {
        const { command, args, env } = server;
        return [server.name, { type: "stdio", command, args, env: pairs(env), source: "dynamic" }];
      }
      if (!URL.canParse(server.url) || !/^https?:$/.test(new URL(server.url).protocol))
        throw new RuntimeError("usage", `The MCP server ${server.name} needs an http or https address`);
      return [server.name, { type: server.type, url: server.url, headers: pairs(server.headers), source: "dynamic" }];
    }),
  );
}

/** A configuration that fails for want of a provider is not wrong, but not complete: clients then offer ways to authenticate. */
async function planWithKey(flags: FlagValues, warn: (line: string) => void): Promise<Planned> {
  try {
    const planned = await planSession(flags, warn);
    await planned.begin();
    return planned;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "config") await checkKey(flags, flags.cwd, warn);
    throw error;
  }
}

async function checkKey(flags: FlagValues, cwd: string | undefined, warn: (line: string) => void): Promise<void> {
  const project = await lookAtProject({
    cwd,
    settings: flags.settings,
    settingSources: flags["setting-sources"],
    trustProject: flags["trust-project"] ?? false,
  });
  const { layers, trust, outriderHome: home } = project;
  const resolved = layers.length === 0 ? noSettings : await resolveLayers(layers, { trusted: trust.trusted });
  try {
    await chooseProvider(flags, { resolved, home, cwd: project.cwd, warn });
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "config") throw error;
    throw new RuntimeError("provider-auth", error.message, { ...(error.hint !== undefined && { hint: error.hint }) });
  }
}

function checkFolder(path: string): void {
  try {
    if (statSync(realpathSync(path)).isDirectory()) return;
  } catch {
    // Said below.
  }
  throw new RuntimeError("usage", `cwd: ${path} is no directory`);
}
