import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { SessionHost } from "../../hosting/session-host.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { answerRequest } from "./answer-request.ts";
import { ForeignRequests } from "./foreign-requests.ts";
import { hostNames, isLoopback } from "./gatekeeper.ts";
import { KeyLedger } from "./key-ledger.ts";
import { Leases } from "./leases.ts";
import type { ServerRules } from "./let-in.ts";
import { Metrics } from "./metrics.ts";
import type { OpenAcp } from "./acp-wire.ts";
import { answerWithoutOffer, wantsSocket } from "./other-upgrades.ts";
import { PageLogins } from "./page/page-logins.ts";
import type { PageDocument } from "./page/page-routes.ts";
import { HttpProblem, toProblem, toRawResponse } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";
import type { ServerParts } from "./route.ts";
import { ServedSessions } from "./served-sessions.ts";
import type { ServedDefaults } from "./session-wish.ts";
import type { SessionRecords } from "./session-records.ts";
import { SocketServer } from "./socket-server.ts";
import type { TokenStore } from "./token-store.ts";

export type HttpServerOptions = {
  /** Its sessions; the server ends it with itself. */
  readonly host: SessionHost;
  readonly version: string;
  readonly tokens: TokenStore;
  readonly records: SessionRecords;
  /** What holds for every session. */
  readonly defaults?: ServedDefaults | undefined;
  /** Folders in which sessions may work, with links followed. */
  readonly roots: readonly string[];
  readonly listen: ListenPlace;
  /** Names by which it is called beside its own address: `agents.example.com`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Web pages that may call it. None when absent. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Something before it does TLS: it may listen beyond this machine without. */
  readonly isBehindProxy?: boolean | undefined;
  readonly limits?: ServerLimits | undefined;
  /** How long a permission question waits while nobody is connected who may answer; a minute when absent. */
  readonly permissionWaitMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  /** What a browser is shown at `/`; nothing is there when absent. Asked for when the first one comes. */
  readonly page?: (() => Promise<PageDocument>) | undefined;
  /** Agents for ACP clients at `/acp`, for tokens with the scope admin; without it there is no such address. */
  readonly acp?: OpenAcp | undefined;
  /** Takes a session out of the store with what belongs to it. */
  readonly remove?: ((id: string) => Promise<void>) | undefined;
  readonly warn?: ((line: string) => void) | undefined;
};

export type ListenPlace =
  | { readonly type: "tcp"; readonly address: string; readonly port: number }
  | { readonly type: "socket"; readonly path: string };

export type ServerLimits = {
  readonly bodyBytes?: number | undefined;
  readonly connections?: number | undefined;
  /** Of each token that has no limit of its own. */
  readonly requestsPerMinute?: number | undefined;
  /** What may wait for one reader. */
  readonly bufferedBytes?: number | undefined;
  /** A socket that has taken nothing for so long is dropped. */
  readonly stalledMs?: number | undefined;
  /** Whoever missed more events begins anew. */
  readonly replayedEvents?: number | undefined;
  /** For the headers of a request to come. */
  readonly headersMs?: number | undefined;
  /** For a whole request to come. */
  readonly requestMs?: number | undefined;
};

export interface HttpServer {
  /** `http://127.0.0.1:4711`, or the path of its socket. */
  readonly url: string;
  /**
   * No new work from here on; waits for what is at work for so long, then ends every session in its own way. Asked again meanwhile, it waits no
   * longer than the shorter of both.
   */
  close(options?: { readonly drainMs?: number | undefined; readonly reason?: string | undefined }): Promise<void>;
}

/** One port, many sessions. Resolves when it takes requests. */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, tokens, records, roots, defaults = {}, version, listen, limits = {}, warn = () => {} } = options;
  checkPlace(options);
  tokens.openOwner(); // without a token nobody listens
  const sessions = new ServedSessions({
    ...{ host, records, defaults, roots, warn },
    permissionWaitMs: options.permissionWaitMs ?? 60_000,
    maxReplay: limits.replayedEvents ?? 50_000,
    remove: options.remove,
  });
  const metrics = createMetrics(sessions);
  const foreign = new ForeignRequests({ sessions, version, warn, isBehindProxy: options.isBehindProxy ?? false });
  const logins = new PageLogins(tokens);
  const parts: ServerParts = {
    version,
    sessions,
    tokens,
    metrics,
    defaults,
    foreign,
    logins,
    page: options.page,
    acp: options.acp,
  };
  const rules: ServerRules = {
    gate: { hosts: undefined, origins: new Set(options.allowedOrigins) },
    bodyBytes: limits.bodyBytes ?? 16 << 20,
    bufferedBytes: limits.bufferedBytes ?? 4 << 20,
    stalledMs: limits.stalledMs ?? 30_000,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    requestsPerMinute: limits.requestsPerMinute ?? 1_200,
    requests: new Map(),
    failures: new RateLimit(failuresPerMinute),
    leases: new Leases(tokens, warn),
    isBehindProxy: options.isBehindProxy ?? false,
    keys: new KeyLedger(tokens.folder),
    logins,
    warn,
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void =>
    void answerRequest({ request, response, parts, rules });
  const server = createServer(options, answer);
  const sockets = new SocketServer(parts, rules);
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (wantsSocket(request)) void sockets.upgrade(request, socket, head);
    else answerWithoutOffer(server, request, socket, head);
  });
  metrics.gauge("websockets", "Connections of /v1/ws and /acp.", () => sockets.size);
  const address = await startListening(server, listen);
  if (listen.type === "tcp")
    rules.gate = { ...rules.gate, hosts: hostNames(listen.address, address, options.allowedHosts ?? []) };
  const scheme = options.tls ? "https" : "http";
  const name =
    listen.type === "tcp" && listen.address.includes(":") ? `[${listen.address}]` : listen.type === "tcp" ? listen.address : "";
  let closing: Promise<void> | undefined;
  let until = Number.POSITIVE_INFINITY;
  return {
    url: listen.type === "tcp" ? `${scheme}://${name}:${address}` : listen.path,
    close({ drainMs = 0, reason } = {}) {
      until = Math.min(until, Date.now() + drainMs);
      closing ??= closeServer({ server, sockets, sessions, host, isOver: () => Date.now() >= until, reason }).finally(
        async () => {
          rules.leases.close();
          await foreign.close();
        },
      );
      return closing;
    },
  };
}

/** Wrong tokens from one address; a person who mistypes stays below it. */
const failuresPerMinute = 30;

function checkPlace({ listen, tls, isBehindProxy = false, allowedHosts = [] }: HttpServerOptions): void {
  if (listen.type === "socket") return checkSocketPath(listen.path);
  if (isLoopback(listen.address)) return;
  if (!tls && !isBehindProxy)
    throw new RuntimeError("usage", `Beyond this machine (${listen.address}) tokens and answers could be read on the way`, {
      hint: "Give --tls-cert and --tls-key, or --behind-proxy where something before it does TLS",
    });
  if (allowedHosts.length === 0)
    throw new RuntimeError("usage", "Beyond this machine it is not known by which name the server is called", {
      hint: "Name it with --allow-host NAME[:PORT], as clients write it",
    });
}

/** The system cuts off what is longer, and the socket would be somewhere else. */
function checkSocketPath(path: string): void {
  const most = process.platform === "linux" ? 107 : 103;
  const { length } = Buffer.from(path);
  if (process.platform === "win32" || length <= most) return;
  throw new RuntimeError("usage", `A socket's path has at most ${most} bytes here, and this one has ${length}: ${path}`);
}

function createServer(
  { tls, limits = {} }: HttpServerOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const { headersMs = 10_000, requestMs = 60_000, connections = 2_000 } = limits;
  const ways = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 5_000),
    keepAliveTimeout: 65_000, // longer than proxies keep them, which would otherwise send into a closed one
    maxHeaderSize: 16 << 10,
    noDelay: true,
    requireHostHeader: false, // we say so in our own words
  };
  const server = tls
    ? (process.getBuiltinModule("node:https").createServer({ ...ways, ...tls }, answer) as unknown as Server) // the same but for its socket
    : process.getBuiltinModule("node:http").createServer(ways, answer);
  server.maxConnections = connections;
  server.on("clientError", refuseUnreadable);
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const { status, headers, body } = toProblem(new HttpProblem("expectation-failed", "The only expectation is 100-continue"));
    response.writeHead(status, { ...headers, connection: "close" }).end(JSON.stringify(body));
  });
  return server;
}

/** What no request could be read of is answered like any other mistake. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const problem =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? new HttpProblem("request-timeout", "The request did not come to its end in time")
      : error.code === "HPE_HEADER_OVERFLOW"
        ? new HttpProblem("headers-too-large", "The headers have more than 16 kB")
        : new HttpProblem("bad-request", "This is no request of HTTP/1.1");
  socket.end(toRawResponse(problem));
}

/** Answers the port; 0 for a socket. */
async function startListening(server: Server, listen: ListenPlace): Promise<number> {
  if (listen.type === "socket") await removeDead(listen.path);
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const place = listen.type === "tcp" ? `${listen.address}:${listen.port}` : listen.path;
      const hint = error.code === "EADDRINUSE" ? { hint: "Something listens there already; --port 0 takes a free one" } : {};
      reject(new RuntimeError("config", `Cannot listen on ${place}: ${error.message}`, { cause: error, ...hint }));
    };
    server.once("error", fail);
    const done = (): void => {
      server.off("error", fail);
      resolve();
    };
    // As many as may be connected may also come at once: the system's usual 511 makes the others wait for seconds.
    const backlog = server.maxConnections;
    if (listen.type === "tcp") server.listen({ host: listen.address, port: listen.port, backlog }, done);
    else listenOnSocket(server, { path: listen.path, backlog }, done);
  });
  return listen.type === "tcp" ? (server.address() as AddressInfo).port : 0; // it listens on TCP
}

/** The socket of a server that was killed: nobody answers there. What is no socket is left alone. */
async function removeDead(path: string): Promise<void> {
  const { lstatSync, rmSync } = process.getBuiltinModule("node:fs");
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  const isDead = await new Promise<boolean>((resolve) => {
    const socket = process.getBuiltinModule("node:net").connect({ path });
    socket
      .once("connect", () => resolve(false))
      .once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
    socket.once("connect", () => socket.destroy());
  });
  if (isDead) rmSync(path, { force: true });
}

/** Only the user may connect: the file is made under a mask, so that there is no moment in which others could. */
function listenOnSocket(server: Server, place: { readonly path: string; readonly backlog: number }, done: () => void): void {
  const mask = process.umask(0o177);
  try {
    server.listen(place, done);
  } finally {
    process.umask(mask);
  }
}

function createMetrics(sessions: ServedSessions): Metrics {
  const metrics = new Metrics();
  metrics.gauge("sessions_open", "Sessions that are open.", () => sessions.counts.open);
  metrics.gauge("prompts_active", "Prompts without an outcome.", () => sessions.counts.prompts);
  metrics.gauge("watchers", "Streams of events.", () => sessions.counts.watchers);
  metrics.gauge("memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
  return metrics;
}

type Closing = {
  readonly server: Server;
  readonly sockets: SocketServer;
  readonly sessions: ServedSessions;
  readonly host: SessionHost;
  /** Nobody waits any longer for what is at work. */
  readonly isOver: () => boolean;
  readonly reason?: string | undefined;
};

async function closeServer({ server, sockets, sessions, host, isOver, reason = "The server is ending" }: Closing): Promise<void> {
  sessions.drain();
  while (sessions.counts.prompts > 0 && !isOver()) await new Promise((resolve) => setTimeout(resolve, 20));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await host.shutdown();
  sessions.end(new RuntimeError("closed", reason, { retryable: true }));
  await sockets.close();
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), 500);
  await closed;
  clearTimeout(patience);
}
