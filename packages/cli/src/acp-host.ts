import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { createFileStore, type PermissionMode, RuntimeError } from "@outrider/runtime";
import type { AcpHost, McpServer, PlannedSession, SessionWish } from "@outrider/runtime/acp";
import { listCatalog } from "@outrider/runtime/admin";
import { loadCallPrice } from "@outrider/runtime/atif";
import {
  beginServers,
  chooseProvider,
  openProject,
  openSession,
  outriderHome,
  randomUuid,
  resolveProject,
  type ServerConnections,
  type SessionPlan,
  toOptions,
} from "@outrider/runtime/host";
import type { McpServerConfig, McpServerConfigs } from "@outrider/runtime/mcp";
import { removeSession } from "./commands/remove-session.ts";
import { watchDebug } from "./debug-log.ts";
import type { FlagValues } from "./flags.ts";
import { planRun, surroundings } from "./plan-run.ts";
import { toSessionRequest } from "./session-request.ts";

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
    checkKey: () => checkKey(flags, warn),
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
  const servers = beginServers(first, { warn, more: clientServers });
  return await toPlan({ sessionId, own, warn, servers }, first);
}

type Planning = {
  readonly sessionId: string;
  readonly own: FlagValues;
  readonly warn: (line: string) => void;
  /** Begun at once and waited for with the first prompt. */
  readonly servers: ServerConnections;
};

async function toPlan(planning: Planning, plan: SessionPlan, chosen?: string): Promise<PlannedSession> {
  const { sessionId, own, warn, servers } = planning;
  const model = chosen === undefined ? undefined : (plan.options.model ?? plan.options.provider.model);
  const options = await toOptions(plan, { warn, options: model === undefined ? {} : { model } });
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
    withModel: async (name) => await toPlan(planning, await planWithKey({ ...own, model: name }, warn), name),
    async start(permissionMode: PermissionMode) {
      const more = { permissionMode, ...(model !== undefined && { model }) };
      const opened = await openSession(plan, { warn, servers, options: more, answers: answersPermissions ? "host" : null });
      watchDebug(opened.session, own);
      return opened.session;
    },
    close: () => servers.close(),
  };
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
async function planWithKey(flags: FlagValues, warn: (line: string) => void): Promise<SessionPlan> {
  try {
    const plan = await planRun(flags, warn);
    await plan.begin();
    return plan;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "config") await checkKey(flags, warn);
    throw error;
  }
}

async function checkKey(flags: FlagValues, warn: (line: string) => void): Promise<void> {
  const around = surroundings();
  const request = await toSessionRequest(flags, warn);
  const project = await openProject(request, around);
  const resolved = await resolveProject(project);
  try {
    await chooseProvider(request, { resolved, around, cwd: project.cwd, warn });
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
