import type { JsonObject } from "../protocol/content.ts";
import { InteractiveSession } from "../session/interactive-session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { McpServers } from "../tools/mcp/mcp-servers.ts";
import type { ServerWays } from "./connect-servers.ts";
import type { PermissionAnswerer } from "./permission-answers.ts";
import type { ServerPlan } from "./plan-servers.ts";
import type { SessionPlan } from "./plan-session.ts";

/** What a front end adds to a plan when it opens the session. */
export type Opening = {
  readonly warn: (line: string) => void;
  /** Servers that were begun before, which the caller closes; those of the plan when absent. */
  readonly servers?: ServerConnections | undefined;
  /** Over the plan's options: what a host asked for after it was made. */
  readonly options?: Partial<SessionOptions> | undefined;
  /** Who answers permission questions, where it is not the tool that the request names; `null` for nobody. */
  readonly answers?: "host" | null | undefined;
  /** Makes the session; for those that are handed to programs. */
  readonly create?: ((options: SessionOptions) => InteractiveSession) | undefined;
};

export type OpenedSession = {
  readonly session: InteractiveSession;
  /** Undefined where there are no servers and nobody may add one. */
  readonly mcp: McpServers | undefined;
  /** Who answers permission questions; the front end asks them. */
  readonly answers: "host" | PermissionAnswerer | undefined;
  /** Shuts the session down, and what was opened for it. */
  close(): Promise<void>;
};

/** A plan to a session. The journal is opened by its first prompt, or by `session.open()`. */
export async function openSession(plan: SessionPlan, opening: Opening): Promise<OpenedSession> {
  const servers = opening.servers ?? beginServers(plan, { warn: opening.warn });
  try {
    const mcp = await servers.connected;
    const answers = await answererOf(plan, { answers: opening.answers, mcp });
    const options = await toOptions(plan, { ...opening, mcp });
    const { create = (given) => new InteractiveSession(given) } = opening;
    const session = create({ ...options, answersPermissions: answers !== undefined });
    servers.offerTo(session);
    plan.tracer?.follow(session);
    const close = async (): Promise<void> => {
      await session.shutdown({ waiting: "keep" }); // they were accepted: the next opening of the session has them
      servers.withdraw(session);
      await plan.tracer?.close();
      if (!opening.servers) await servers.close();
      await plan.worktree?.settle();
    };
    return { session, mcp, answers, close };
  } catch (error) {
    if (!opening.servers) await servers.close();
    await plan.worktree?.settle();
    throw error;
  }
}

/**
 * The options a session is made of: the plan's, over them the host's, the servers' tools and the rules that come with them, all of it held to
 * what the main agent may do.
 */
export async function toOptions(
  { request: { mainAgent }, options: planned, servers }: SessionPlan,
  { warn, options: more, mcp }: Pick<Opening, "warn" | "options"> & { readonly mcp?: McpServers | undefined },
): Promise<SessionOptions> {
  const plain = withOwnServers(swappingServers({ ...planned, ...more }, { mcp, configs: servers.configs }), servers);
  const whole = mcp ? await withServers(plain, mcp) : plain;
  if (mainAgent === undefined) return whole;
  const { withMainAgent } = await import("./main-agent.ts");
  return await withMainAgent(whole, mainAgent, warn);
}

/** Agents may have servers of their own, which are started with them. */
function withOwnServers(options: SessionOptions, servers: ServerPlan): SessionOptions {
  if (!options.agents?.some(({ mcpServers }) => mcpServers)) return options;
  const { cwd, env = {} } = options;
  return {
    ...options,
    openServers: async (written, source) =>
      await (await import("./connect-servers.ts")).openOwnServers(written, { source, plan: servers, cwd, env }),
  };
}

/** When plugins are loaded again, their servers are too. */
function swappingServers(
  options: SessionOptions,
  ground: { readonly mcp: McpServers | undefined; readonly configs: ServerPlan["configs"] },
): SessionOptions {
  const { reload } = options.loadedPlugins ?? {};
  if (!reload) return options;
  const withServers: typeof reload = async (more) => {
    const { swapServers } = await import("./plan-plugins.ts");
    return await swapServers(await reload(more), ground);
  };
  return { ...options, loadedPlugins: { ...options.loadedPlugins, reload: withServers } };
}

/** What is asked about or refused of the servers' tools joins the rules of settings, and what they say of them the prompt. */
async function withServers(options: SessionOptions, mcp: McpServers): Promise<SessionOptions> {
  const { tools, rules, states } = mcp;
  const { permissions, appendSystemPrompt } = options;
  const { describeServers } = await import("../tools/mcp/server-instructions.ts");
  const appended = [appendSystemPrompt, describeServers(states)].filter(Boolean);
  const written = (texts: readonly string[]): { text: string; source: string }[] =>
    texts.map((text) => ({ text, source: "mcpServers" }));
  return {
    ...options,
    ...(appended.length > 0 && { appendSystemPrompt: appended.join("\n\n") }),
    tools: [...(options.tools ?? []), ...tools],
    serverPrompts: { list: () => mcp.prompts, get: (...wanted) => mcp.getPrompt(...wanted) },
    permissions: {
      ...permissions,
      ask: [...(permissions?.ask ?? []), ...written(rules.ask)],
      deny: [...(permissions?.deny ?? []), ...written(rules.deny)],
    },
  };
}

async function answererOf(
  { request: { permissionTool } }: SessionPlan,
  { answers, mcp }: { readonly answers: Opening["answers"]; readonly mcp: McpServers | undefined },
): Promise<OpenedSession["answers"]> {
  if (answers !== undefined) return answers ?? undefined;
  if (permissionTool === undefined) return undefined;
  const { askPermissionTool } = await import("./ask-permission-tool.ts");
  return askPermissionTool(mcp, permissionTool);
}

/** The servers of a session while they connect, and afterwards. */
export interface ServerConnections {
  readonly connected: Promise<McpServers | undefined>;
  /** Whatever the servers offer later, this session is told. */
  offerTo(session: InteractiveSession<unknown>): void;
  /** It is told no longer. */
  withdraw(session: InteractiveSession<unknown>): void;
  /** Also those that are still being waited for. */
  close(): Promise<void>;
}

export type BeginServers = Pick<ServerWays, "warn" | "elicit" | "hostTransport"> & {
  /** Beside those of the plan. */
  readonly more?: ServerPlan["configs"] | undefined;
  /** Servers may be added later although there is none now. */
  readonly open?: boolean | undefined;
  readonly giveUp?: AbortSignal | undefined;
};

/** Begins to connect at once: a session may be there before a slow server is. */
export function beginServers(
  { servers, options }: SessionPlan,
  { more, open, giveUp, ...ways }: BeginServers,
): ServerConnections {
  const configs = new Map([...servers.configs, ...(more ?? [])]);
  const leaving = new AbortController();
  giveUp?.addEventListener("abort", () => leaving.abort(), { once: true });
  const offered = new Set<InteractiveSession<unknown>>();
  /** Servers that several sessions share do not say for which of them they ask. */
  const elicit: ServerWays["elicit"] = async (server, request, signal) => {
    const ask = async (): Promise<JsonObject> => (await ways.elicit?.(server, request, signal)) ?? { action: "cancel" };
    const [session] = offered;
    if (!session || offered.size > 1) return await ask();
    return await (await session.controls()).answerElicitation({ server, request, ask, signal });
  };
  const connect = async (): Promise<McpServers> => {
    const { connectServers } = await import("./connect-servers.ts");
    return await connectServers(
      { ...servers, configs },
      {
        ...ways,
        elicit,
        cwd: options.cwd,
        env: options.env ?? {},
        giveUp: leaving.signal,
        onToolsChanged: () => void offerTools().catch(() => {}), // a session that cannot be opened says so itself
      },
    );
  };
  const connected = configs.size === 0 && !open ? Promise.resolve(undefined) : connect();
  connected.catch(() => {}); // the opening of the session tells it
  const offerTools = async (): Promise<void> => {
    const mcp = await connected;
    if (mcp) for (const session of offered) (await session.controls()).replaceTools(mcp.tools);
  };
  return {
    connected,
    offerTo(session) {
      offered.add(session);
    },
    withdraw(session) {
      offered.delete(session);
    },
    async close() {
      leaving.abort();
      await (await connected.catch(() => undefined))?.close();
    },
  };
}
