import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../protocol/content.ts";
import type { Client, Scope } from "./client.ts";
import type { EventStream } from "./event-stream.ts";
import type { ForeignRequests } from "./foreign-requests.ts";
import type { Keyed } from "./key-ledger.ts";
import type { Metrics } from "./metrics.ts";
import type { OpenAcp } from "./acp-wire.ts";
import type { PageLogins } from "./page/page-logins.ts";
import type { PageDocument } from "./page/page-routes.ts";
import type { ServedSessions } from "./served-sessions.ts";
import type { ServedDefaults } from "./session-wish.ts";
import type { TokenStore } from "./token-store.ts";

/** What routes work with. */
export type ServerParts = {
  readonly version: string;
  readonly sessions: ServedSessions;
  readonly tokens: TokenStore;
  readonly metrics: Metrics;
  /** What answers in the formats of others. */
  readonly foreign: ForeignRequests;
  readonly defaults: ServedDefaults;
  readonly logins: PageLogins;
  readonly page: (() => Promise<PageDocument>) | undefined;
  /** Absent: there is no `/acp`. */
  readonly acp: OpenAcp | undefined;
};

/** One request, read and let in. */
export type Exchange = ServerParts & {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly client: Client;
  /** Of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** It fits the schema of the route. */
  readonly body: unknown;
  /** `Idempotency-Key`, where the route takes one: of this client alone. */
  readonly key: string | undefined;
  /** Answers with events from here on. */
  openStream(): EventStream;
};

export type Answer = {
  readonly status: number;
  /** Sent as JSON; a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Parameter = { readonly name: string; readonly schema: JsonObject; readonly description: string };

export type Described = {
  readonly description: string;
  /** Of a JSON body; absent when there is none. */
  readonly schema?: JsonObject | undefined;
  /** Of a body that is no JSON. */
  readonly mediaType?: string | undefined;
};

/** All that is known of a route: requests are checked by it, and the OpenAPI document is written from it. */
export type Route = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
  /** `/v1/sessions/{id}` */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Undefined where everybody may ask. */
  readonly scope: Scope | undefined;
  readonly query?: readonly Parameter[] | undefined;
  readonly body?: JsonObject | undefined;
  /** The body may be left out. */
  readonly isBodyOptional?: boolean | undefined;
  /** Takes `Idempotency-Key`. */
  readonly keyed?: ((given: Pick<Exchange, "params" | "body">) => Keyed) | undefined;
  /** By status; problems are told by the document for all. */
  readonly answers: Readonly<Record<number, Described | readonly Described[]>>;
  /** Undefined when it has answered by a stream. */
  handle(exchange: Exchange): Promise<Answer | undefined>;
};
