/**
 * Unstable: names here change with the command, in any version, without notice.
 * A server of sessions over HTTP: `outrider serve` is made of it.
 */
export type { AcpPeer, AcpWire, OpenAcp } from "../transports/http/acp-wire.ts";
export { type Client, type ClientLimits, type Scope, scopes } from "../transports/http/client.ts";
export { type HttpServer, type HttpServerOptions, openHttpServer, type ServerLimits } from "../transports/http/http-server.ts";
export { announceServer, findServer, refuseSecond, serverFolder, type ServerPlace } from "../transports/http/server-place.ts";
export { SessionRecords } from "../transports/http/session-records.ts";
export { type TokenRecord, TokenStore } from "../transports/http/token-store.ts";
