import type { Agent, RequestOptions } from "node:http";
import type { SecureContext } from "node:tls";
import { trustedRoots } from "./extra-ca.ts";
import { bareHost, type Env, portOf, proxyAuthorization, proxyFor } from "./proxy.ts";
import { defined } from "../util/defined.ts";

export type ConnectionOptions = {
  /** Where HTTPS_PROXY and its kin are looked up. */
  readonly env?: Env;
  /** PEM texts of certificate authorities to trust beside the usual ones. */
  readonly ca?: readonly string[];
};

/** How one request travels. */
export type Route = {
  readonly module: "node:http" | "node:https";
  readonly options: RequestOptions;
  /** What a new socket says when it can be written to; undefined when it is handed over ready. */
  readonly readyEvent: "connect" | "secureConnect" | undefined;
};

/** The open connections of one client, kept for the next request and never in the way of the process ending. */
export interface Connections {
  /** `signal` ends the making of a connection. */
  route(url: URL, signal: AbortSignal): Route;
  /** Is there nothing between us and the server, and nobody else to trust? */
  isPlain(url: URL): boolean;
  /** The next request opens a new connection. */
  dropIdle(): void;
  close(): void;
}

/** Behind many a firewall a silent connection dies after a minute or so; asking on it would only wait for a timeout. */
export const idleSocketMs: number = 60_000;
/** Node gives each address 250 ms by default, which fails on slow lines. */
const addressAttemptMs = 1_000;

export function createConnections({ env = {}, ca = [] }: ConnectionOptions = {}): Connections {
  const agents = new Map<string, Agent>();
  let context: SecureContext | undefined;

  const secureContext = (): SecureContext | undefined => {
    if (ca.length === 0) return undefined;
    context ??= process.getBuiltinModule("node:tls").createSecureContext({ ca: trustedRoots(ca) });
    return context;
  };
  const agentFor = (key: string, create: () => Agent): Agent => {
    const agent = agents.get(key) ?? create();
    agents.set(key, agent);
    return agent;
  };
  const directAgent = (protocol: string): Agent =>
    agentFor(protocol, () => (protocol === "https:" ? secureAgent(secureContext()) : plainAgent()));

  return {
    route(url, signal) {
      const proxy = proxyFor(url, env);
      const host = { host: url.host };
      if (proxy && url.protocol === "https:") {
        const agent = agentFor(`tunnel ${proxy.href}`, () => tunnelAgent(proxy, secureContext()));
        const options: TunnelOptions = { ...addressOf(url), path: pathOf(url), agent, headers: host, tunnelSignal: signal };
        return { module: "node:https", options, readyEvent: undefined };
      }
      if (proxy) {
        const headers = { ...host, ...proxyAuthorization(proxy) };
        const path = `${url.origin}${pathOf(url)}`;
        return direct(proxy, { ...addressOf(proxy), path, agent: directAgent(proxy.protocol), headers });
      }
      return direct(url, { ...addressOf(url), path: pathOf(url), agent: directAgent(url.protocol), headers: host });
    },
    isPlain: (url) => ca.length === 0 && proxyFor(url, env) === undefined,
    dropIdle() {
      for (const agent of agents.values()) {
        for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
      }
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** Passed through Node's agent to `createConnection`, which is called for the first request that needs a socket. */
type TunnelOptions = RequestOptions & { tunnelSignal: AbortSignal };

const agentOptions = { keepAlive: true, timeout: idleSocketMs, autoSelectFamilyAttemptTimeout: addressAttemptMs };

function plainAgent(): Agent {
  return new (process.getBuiltinModule("node:http").Agent)(agentOptions);
}

function secureAgent(secureContext: SecureContext | undefined): Agent {
  return new (process.getBuiltinModule("node:https").Agent)({ ...agentOptions, ...defined({ secureContext }) });
}

function tunnelAgent(proxy: URL, secureContext: SecureContext | undefined): Agent {
  const agent = secureAgent(secureContext);
  agent.createConnection = (options, callback) => {
    const { host, port, tunnelSignal } = options as TunnelOptions; // made by `route`, the only user of this agent
    const wanted = { proxy, host: String(host), port: Number(port), secureContext, signal: tunnelSignal };
    const opened = import("./tunnel.ts").then(({ openTunnel }) => openTunnel(wanted)); // few are behind a proxy
    opened.then(
      (socket) => callback?.(null, socket),
      // The agent reads no second argument beside an error, but its type asks for one.
      (error: Error) => (callback as ((error: Error) => void) | undefined)?.(error),
    );
    return undefined;
  };
  return agent;
}

function direct(url: URL, options: RequestOptions): Route {
  if (url.protocol === "https:") return { module: "node:https", options, readyEvent: "secureConnect" };
  return { module: "node:http", options, readyEvent: "connect" };
}

function addressOf(url: URL): { host: string; port: number } {
  return { host: bareHost(url), port: portOf(url) };
}

function pathOf(url: URL): string {
  return `${url.pathname}${url.search}`;
}
