import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./problem.ts";

export type GateOptions = {
  /** Names and addresses with ports by which the server may be called, in lower case. Undefined on a Unix socket, which no web page reaches. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** Web pages that may call it: `https://example.com`. */
  readonly origins: ReadonlySet<string>;
};

/**
 * Before anything else is looked at: a web page that somebody has open must not reach the server, neither by its own name (Origin) nor by a
 * name that it makes point here (Host).
 */
export function checkCaller({ headers, rawHeaders, url = "" }: IncomingMessage, { hosts, origins }: GateOptions): void {
  if (!url.startsWith("/")) throw new HttpProblem("bad-request", "The target of a request is a path");
  if (count(rawHeaders, "host") !== 1) throw new HttpProblem("bad-request", "A request has one Host");
  if (hosts && !hosts.has(headers.host?.toLowerCase() ?? ""))
    throw new HttpProblem("forbidden", "The server is not called by this Host (--allow-host names more)");
  if (count(rawHeaders, "authorization") > 1) throw new HttpProblem("bad-request", "A request has one Authorization");
  const { origin } = headers;
  if (count(rawHeaders, "origin") > 1) throw new HttpProblem("bad-request", "A request has one Origin");
  if (origin !== undefined && !origins.has(origin) && !(hosts && isOwnOrigin(origin, headers.host ?? "")))
    throw new HttpProblem("forbidden", "Web pages of this Origin may not call the server (--allow-origin names those that may)");
}

/** Is it the page that this server itself hands out? Plain HTTP only on this machine: elsewhere somebody else could have written it. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const name = host.toLowerCase();
  return (
    origin === `https://${name}` || (origin === `http://${name}` && isLoopback(name.replace(/:\d+$/, "").replace(/^\[|\]$/g, "")))
  );
}

/** The token of a request; never from its address, which is logged. */
export function bearerOf({ headers: { authorization } }: IncomingMessage): string | undefined {
  return /^Bearer +([\w~+/.-]+=*)$/i.exec(authorization ?? "")?.[1];
}

/** The address a request comes from: behind a proxy the last one of X-Forwarded-For, which the proxy itself has put there. */
export function callerOf({ headers, socket }: IncomingMessage, isBehindProxy: boolean): string {
  const forwarded = isBehindProxy
    ? String(headers["x-forwarded-for"] ?? "")
        .split(",")
        .at(-1)
        ?.trim()
    : "";
  return forwarded || (socket.remoteAddress ?? "socket");
}

/** What a page is to read beside the body. */
const exposedHeaders = "etag, location, retry-after, x-session-id, mcp-session-id, x-vercel-ai-ui-message-stream";

/** For pages that were let in: exactly those, and no credentials but the token. */
export function corsHeaders({ headers: { origin } }: IncomingMessage, origins: ReadonlySet<string>): Record<string, string> {
  if (origin === undefined || !origins.has(origin)) return {};
  return { "access-control-allow-origin": origin, "access-control-expose-headers": exposedHeaders, vary: "Origin" };
}

/** All by which a server that listens there is called on this machine. */
export function hostNames(address: string, port: number, more: readonly string[]): ReadonlySet<string> {
  const literal = address.includes(":") ? `[${address}]` : address;
  const names = ["127.0.0.1", "localhost", "[::1]", literal];
  const own = names.map((name) => `${name}:${port}`.toLowerCase());
  const usual = port === 80 || port === 443 ? names.map((name) => name.toLowerCase()) : [];
  return new Set([...own, ...usual, ...more.map((name) => name.toLowerCase())]);
}

/** Reached by programs of this machine alone. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);
}

function count(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length;
}
