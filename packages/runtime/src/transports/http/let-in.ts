import type { IncomingMessage } from "node:http";
import { type Client, may } from "./client.ts";
import { bearerOf, callerOf, type GateOptions } from "./gatekeeper.ts";
import type { KeyLedger } from "./key-ledger.ts";
import type { Leases } from "./leases.ts";
import type { PageLogins } from "./page/page-logins.ts";
import { HttpProblem } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";
import type { Route } from "./route.ts";
import type { TokenStore } from "./token-store.ts";

/** What holds for every request and connection. */
export type ServerRules = {
  gate: GateOptions;
  readonly bodyBytes: number;
  readonly bufferedBytes: number;
  readonly stalledMs: number;
  readonly heartbeatMs: number;
  readonly requestsPerMinute: number;
  /** By limit: clients with the same one share a table, not a count. */
  readonly requests: Map<number, RateLimit>;
  /** Wrong tokens, by address. */
  readonly failures: RateLimit;
  /** What goes on for somebody ends with their token. */
  readonly leases: Leases;
  /** Requests come through a proxy, which says from where. */
  readonly isBehindProxy: boolean;
  /** What was asked with the latest keys. */
  readonly keys: KeyLedger;
  /** Browsers that were let in. */
  readonly logins: PageLogins;
  readonly warn: (line: string) => void;
};

type Door = { readonly tokens: TokenStore; readonly rules: ServerRules };

/** Who asks, if they may. */
export function letIn(request: IncomingMessage, { scope }: Pick<Route, "scope">, door: Door): Client {
  if (scope === undefined) return nobody;
  const token = bearerOf(request);
  const client = (token === undefined ? door.rules.logins.find(request) : undefined) ?? identify(request, token, door);
  limitRate(client, door.rules);
  if (!may(client, scope)) throw new HttpProblem("forbidden", `This needs the scope ${scope}`);
  return client;
}

const nobody: Client = { name: "", digest: "", scopes: new Set(), limits: {} };

/** Whose token it is. Wrong tokens of one address become slow. */
export function identify(request: IncomingMessage, token: string | undefined, { tokens, rules }: Door): Client {
  const client = token === undefined ? undefined : tokens.find(token);
  if (client) return client; // whatever others from this address have guessed
  const from = callerOf(request, rules.isBehindProxy);
  const wait = token === undefined ? undefined : (rules.failures.take(from, 0) ?? rules.failures.take(from)); // no token is no guess
  if (wait !== undefined) throw new HttpProblem("rate-limited", "Too many wrong tokens", { retryAfterMs: wait });
  throw new HttpProblem("unauthorized", "A token is needed: Authorization: Bearer …", {
    headers: { "www-authenticate": 'Bearer realm="outrider"' },
  });
}

export function limitRate({ name, limits }: Client, { requests, requestsPerMinute }: ServerRules): void {
  const perMinute = limits.requestsPerMinute ?? requestsPerMinute;
  let limit = requests.get(perMinute);
  if (!limit) {
    limit = new RateLimit(perMinute);
    requests.set(perMinute, limit);
  }
  const wait = limit.take(name);
  if (wait !== undefined)
    throw new HttpProblem("rate-limited", `More than ${perMinute} requests in a minute`, { retryAfterMs: wait });
}
