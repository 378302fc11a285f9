import { createHash } from "node:crypto";
import type { McpServers } from "../tools/mcp/mcp-servers.ts";
import { beginServers, type BeginServers, type ServerConnections } from "./open-session.ts";
import type { SessionPlan } from "./plan-session.ts";

type Shared = {
  readonly connections: ServerConnections;
  readonly users: Set<ServerConnections>;
};

/**
 * The MCP servers of a process's sessions. Sessions whose servers are the same to the last variable, in the same folder, talk to one set of
 * them: a hundred sessions of one project start each server once. The last session that leaves ends them.
 */
export class SharedServers {
  readonly #shared = new Map<string, Shared>();

  begin(plan: SessionPlan, ways: Pick<BeginServers, "warn">): ServerConnections {
    if (plan.servers.configs.size === 0) return beginServers(plan, ways);
    const key = keyOf(plan);
    const shared = this.#shared.get(key) ?? this.#open(key, plan, ways);
    const { connections, users } = shared;
    const sessions = new Set<Parameters<ServerConnections["offerTo"]>[0]>();
    const own: ServerConnections = {
      connected: connections.connected,
      offerTo(session) {
        sessions.add(session);
        connections.offerTo(session);
      },
      close: async () => {
        for (const session of sessions) connections.withdraw(session);
        if (!users.delete(own) || users.size > 0) return;
        if (this.#shared.get(key) === shared) this.#shared.delete(key);
        await connections.close();
      },
      withdraw: (session) => connections.withdraw(session),
    };
    users.add(own);
    return own;
  }

  #open(key: string, plan: SessionPlan, ways: Pick<BeginServers, "warn">): Shared {
    const shared: Shared = { connections: beginServers(plan, ways), users: new Set() };
    this.#shared.set(key, shared);
    // Servers that could not be connected are tried again by the next session.
    shared.connections.connected.then(
      (mcp) => {
        if (isWanting(mcp)) this.#shared.delete(key);
      },
      () => this.#shared.delete(key),
    );
    return shared;
  }
}

function isWanting(mcp: McpServers | undefined): boolean {
  return mcp?.states.some(({ status }) => status !== "connected") ?? false;
}

/** Variables are in it, and may be secrets: only a digest of it is kept. */
function keyOf({ servers, options }: SessionPlan): string {
  const facts = [
    options.cwd,
    Object.entries(options.env ?? {}).sort(),
    [...servers.configs],
    servers.callTimeoutMs ?? null,
    servers.outputLimit ?? null,
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}
