import { realpathSync, statSync } from "node:fs";
import { type PermissionMode, RuntimeError, SessionHost, type SessionRequest } from "@outrider/runtime";
import { type AcpHost, listCommands, type McpServer, type PlannedSession, type SessionWish } from "@outrider/runtime/acp";
import { listCatalog } from "@outrider/runtime/admin";
import { loadCallPrice } from "@outrider/runtime/atif";
import {
  chooseProvider,
  openProject,
  outriderHome,
  resolveProject,
  type ServerConnections,
  type SessionPlan,
  toOptions,
} from "@outrider/runtime/host";
import type { McpServerConfig, McpServerConfigs } from "@outrider/runtime/mcp";
import { removeSession } from "../commands/sessions/remove-session.ts";
import { watchDebug } from "./debug-log.ts";
import type { FlagValues } from "../flags/flags.ts";
import { planRun, surroundings } from "../request/plan-run.ts";
import { toSessionRequest } from "../request/session-request.ts";

declare const OUTRIDER_VERSION: string;

/** Sessions for ACP clients, of one host: planned like those of any other front end, in the folder the client names. */
export function createAcpHost(flags: FlagValues, warn: (line: string) => void): AcpHost {
  const home = outriderHome(process.env);
  const host = new SessionHost({ around: surroundings(), warn, defaults: { persistent: !flags["no-session-persistence"] } });
  const { store } = host;
  const context: Context = { flags, warn, host };
  return {
    version: OUTRIDER_VERSION,
    store,
    warn,
    plan: (wish) => plan(wish, context),
    checkKey: () => checkKey({}, context),
    close: () => host.shutdown(),
    async removeSession(sessionId) {
      const problem = store && (await removeSession({ store, home }, sessionId));
      if (problem) throw new RuntimeError(problem.isInUse ? "session-locked" : "storage-failed", problem.reason);
    },
  };
}

type Context = { readonly flags: FlagValues; readonly warn: (line: string) => void; readonly host: SessionHost };

async function plan(wish: SessionWish, context: Context): Promise<PlannedSession> {
  checkFolder(wish.cwd);
  const clientServers = toConfigs(wish.mcpServers);
  const first = await planWithKey(toRequest(wish), context);
  const servers = context.host.beginServers(first, clientServers);
  return await toPlan({ ...context, wish, servers }, first);
}

type Wanted = Pick<SessionRequest, "cwd" | "session" | "model" | "keepsChanges"> & { readonly folders?: readonly string[] };

function toRequest({ cwd, resume, additionalDirectories: folders }: SessionWish, id?: string): Wanted {
  if (resume === undefined) return { cwd, folders, session: { type: "new", id } };
  return { cwd, folders, session: { type: "resume", id: resume }, keepsChanges: ["permissionMode", "model"] };
}

type Planning = Context & {
  readonly wish: SessionWish;
  /** Begun at once and waited for with the first prompt. */
  readonly servers: ServerConnections;
};

async function toPlan(planning: Planning, plan: SessionPlan, chosen?: string): Promise<PlannedSession> {
  const { flags, warn, host, servers } = planning;
  const { sessionId } = plan;
  const model = chosen === undefined ? undefined : (plan.options.model ?? plan.options.provider.model);
  const options = await toOptions(plan, { warn, options: model === undefined ? {} : { model } });
  const { provider, catalogOverride } = options;
  const answersPermissions = flags["permission-prompts"] !== "none";
  const listed = await listCatalog(provider.name, catalogOverride);
  return {
    sessionId,
    cwd: options.cwd,
    folders: [options.cwd, ...planning.wish.additionalDirectories].map(realPath),
    withheld: Object.keys(process.env).filter((name) => !Object.hasOwn(options.env ?? process.env, name)),
    provider: provider.name,
    model: options.model ?? provider.model,
    chosenModel: model,
    models: listed.models.map(({ id, contextWindow }) => ({
      id,
      ...(contextWindow !== undefined && { description: `${contextWindow.toLocaleString("en")} tokens of context` }),
    })),
    permissionMode: options.permissionMode ?? "default",
    mayBypass: options.permissions?.mayBypass ?? false,
    effort: options.effort,
    answersPermissions,
    commands: listCommands(options),
    price: await loadCallPrice(catalogOverride),
    async withModel(name) {
      const other = await planWithKey(
        { ...toRequest(planning.wish, sessionId), model: name, keepsChanges: ["permissionMode"] },
        planning,
      );
      return await toPlan(planning, other, name);
    },
    async start(permissionMode: PermissionMode, editor) {
      const more = { permissionMode, wakes: false, editor, ...(model !== undefined && { model }) };
      const { session } = await host.openPlan(plan, { servers, options: more, answers: answersPermissions ? "host" : null });
      watchDebug(session, flags);
      return session;
    },
    async close() {
      await servers.close(); // one that is still being waited for must not hold up the end
      await host.close(sessionId);
    },
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
async function planWithKey(wanted: Wanted, context: Context): Promise<SessionPlan> {
  const { flags, warn, host } = context;
  try {
    const plan = await planRun(flags, warn, (request) => host.plan(withWanted(request, wanted)));
    await plan.begin();
    return plan;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "config") await checkKey(wanted, context);
    throw error;
  }
}

/** The flags hold for every session, and the client says what is special about this one. */
function withWanted(request: SessionRequest, { folders = [], ...wanted }: Wanted): SessionRequest {
  const { permissions } = request.options ?? {};
  const additionalDirectories = [...(permissions?.additionalDirectories ?? []), ...folders];
  const { model = request.model, ...rest } = wanted;
  return {
    ...request,
    ...rest,
    model,
    options: { ...request.options, promptsFrom: "owner", permissions: { ...permissions, additionalDirectories } },
  };
}

async function checkKey(wanted: Wanted, { flags, warn }: Context): Promise<void> {
  const around = surroundings();
  const request = withWanted(await toSessionRequest(flags, warn), wanted);
  const project = await openProject(request, around);
  const resolved = await resolveProject(project);
  try {
    await chooseProvider(request, { resolved, around, cwd: project.cwd, warn });
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "config") throw error;
    throw new RuntimeError("provider-auth", error.message, { ...(error.hint !== undefined && { hint: error.hint }) });
  }
}

/** Where a link leads; one that is not there covers nothing. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
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
