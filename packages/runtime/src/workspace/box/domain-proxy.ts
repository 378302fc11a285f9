import type { LookupAddress } from "node:dns";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { canonicalHost, type DomainRule, isAllowedTarget } from "./domain-rules.ts";
import { joinStreams, type ProxyTarget, Refusal } from "./proxy-target.ts";
import { acceptSocks } from "./socks-connection.ts";
import { messageOf } from "../../util/message-of.ts";

export type DomainProxyOptions = {
  readonly rules: readonly DomainRule[];
  /** Asked about every address a name leads to. */
  readonly isAllowedAddress: (address: string) => boolean | Promise<boolean>;
  /** The system's own when absent. */
  readonly lookup?: (host: string) => Promise<LookupAddress[]>;
  /** How long a host may take to accept a connection; 30 s when absent. */
  readonly connectTimeoutMs?: number;
};

export type DomainProxy = { close(): Promise<void> };

const defaultConnectTimeoutMs = 30_000;

/** The only way out of a box without a network: HTTP, CONNECT and SOCKS5, to the hosts of the list and to nobody else. */
export async function openDomainProxy(socketPath: string, options: DomainProxyOptions): Promise<DomainProxy> {
  const net = process.getBuiltinModule("node:net");
  const open = new Set<Socket>();
  const connect = (target: ProxyTarget): Promise<Socket> => connectTo(target, options);
  const http = createHttpSide(connect);
  const server = net.createServer((client) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    client.on("error", () => client.destroy());
    client.once("data", (first) => {
      client.pause();
      client.unshift(first);
      if (first[0] === 5) acceptSocks(client, connect).catch(() => client.destroy());
      else {
        http.emit("connection", client);
        client.resume();
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  server.unref();
  return {
    close: () =>
      new Promise((resolve) => {
        for (const client of open) client.destroy();
        server.close(() => resolve());
      }),
  };
}

function createHttpSide(connect: (target: ProxyTarget) => Promise<Socket>): Server {
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer((request, response) => {
    forward(request, response, connect).catch((error) => refuse(response, error));
  });
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on("error", () => client.destroy());
    tunnel({ request, client, head }, connect).catch((error) => {
      client.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${messageOf(error)}\n`);
    });
  });
  server.on("clientError", (_error, client) => client.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"));
  return server;
}

async function tunnel(
  { request, client, head }: { request: IncomingMessage; client: Duplex; head: Buffer },
  connect: (target: ProxyTarget) => Promise<Socket>,
): Promise<void> {
  const [, host = "", port = ""] = /^([^:[\]]+):(\d{1,5})$/.exec(request.url ?? "") ?? [];
  const upstream = await connect({ host, port: Number(port) });
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  upstream.write(head);
  joinStreams(client, upstream);
}

/** One plain HTTP request. Each is checked by itself: a connection that was good once can carry another name next time. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  connect: (target: ProxyTarget) => Promise<Socket>,
): Promise<void> {
  const text = request.url ?? "";
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) throw new Refusal("Only whole http:// addresses are forwarded.");
  const url = new URL(text);
  const written = /^http:\/\/([^/?#]*)/i.exec(text)?.[1] ?? "";
  const hosts = request.rawHeaders.filter((_value, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === "host");
  if (hosts.length !== 1 || hosts[0]?.toLowerCase() !== written.toLowerCase())
    throw new Refusal("The Host header does not name the host of the address.");
  const socket = await connect({ host: url.hostname, port: Number(url.port || 80) });
  const { request: send } = process.getBuiltinModule("node:http");
  const headers = withoutHopHeaders(request);
  await new Promise<void>((resolve, reject) => {
    const outgoing = send({
      createConnection: () => socket,
      method: request.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host },
    });
    outgoing.on("error", reject);
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, withoutHopHeaders(answer));
      answer.pipe(response);
      answer.on("error", () => response.destroy());
      response.on("close", () => {
        answer.destroy();
        resolve();
      });
    });
    request.pipe(outgoing);
  });
}

async function connectTo(wanted: ProxyTarget, options: DomainProxyOptions): Promise<Socket> {
  const target = checkTarget(wanted, options);
  const addresses = await resolveTarget(target, options);
  const { connect } = process.getBuiltinModule("node:net");
  return new Promise((resolve, reject) => {
    const timeout = options.connectTimeoutMs ?? defaultConnectTimeoutMs;
    const socket = connect({ host: target.host, port: target.port, lookup: pinned(addresses), timeout });
    socket.once("timeout", () => socket.destroy(new Error("no answer in time")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

/** Checked and looked up under the same, canonical name. */
function checkTarget({ host, port }: ProxyTarget, { rules }: DomainProxyOptions): ProxyTarget {
  const name = canonicalHost(host);
  if (name === undefined) throw new Refusal("The sandbox forwards to host names only.");
  if (!isAllowedTarget(rules, { host: name, port })) throw new Refusal(`The sandbox does not allow ${name}:${port}.`);
  return { host: name, port };
}

async function resolveTarget({ host }: ProxyTarget, options: DomainProxyOptions): Promise<LookupAddress[]> {
  const { lookup } = process.getBuiltinModule("node:dns/promises");
  const addresses = await (options.lookup ?? ((name) => lookup(name, { all: true })))(host);
  const allowed = await Promise.all(addresses.map(async ({ address }) => await options.isAllowedAddress(address)));
  if (addresses.length === 0 || !allowed.every((is) => is === true))
    throw new Refusal(`${host} does not lead to an address on the public internet.`);
  return addresses;
}

/** The addresses that were checked are the ones connected to: a second look-up could answer differently. */
function pinned(addresses: readonly LookupAddress[]) {
  type Done = (error: null, address: string | LookupAddress[], family?: number) => void;
  return (_host: string, { all }: { all?: boolean | undefined }, done: Done): void => {
    const [first] = addresses;
    if (all || !first) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}

/** Headers that are about one connection, not about the message. */
function withoutHopHeaders({ headers }: IncomingMessage): Record<string, string | string[]> {
  const named = String(headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const dropped = new Set([
    ...named,
    "connection",
    "proxy-connection",
    "proxy-authorization",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
  ]);
  dropped.delete("");
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || dropped.has(name) ? [] : [[name, value] as const],
    ),
  );
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(error instanceof Refusal ? 403 : 502, { "content-type": "text/plain", connection: "close" });
  response.end(`${messageOf(error)}\n`);
}

/** What tells programs in the box of it: forwarded to this port there. */
export function proxyVariables(port: number): Readonly<Record<string, string>> {
  const address = `http://127.0.0.1:${port}`;
  return {
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    ALL_PROXY: `socks5h://127.0.0.1:${port}`,
    http_proxy: address,
    https_proxy: address,
    all_proxy: `socks5h://127.0.0.1:${port}`,
    NO_PROXY: "localhost,127.0.0.1,::1",
    no_proxy: "localhost,127.0.0.1,::1",
    NODE_USE_ENV_PROXY: "1",
  };
}
