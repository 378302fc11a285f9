import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { type ServerRules, identify, limitRate } from "./let-in.ts";
import type { Client } from "./client.ts";
import { bearerOf, checkCaller } from "./gatekeeper.ts";
import { HttpProblem, toProblem, toRawResponse } from "./problem.ts";
import type { ServerParts } from "./route.ts";
import { SocketClient } from "./socket-client.ts";

/** What a browser offers beside its token, and gets. */
const subprotocol = "outrider.v1";
const tokenPrefix = "outrider.token.";

/** Connections that have not said yet who they are. */
const mostUnknown = 100;

/** `/v1/ws`. The package is loaded with the first connection. */
export class SocketServer {
  readonly #parts: ServerParts;
  readonly #rules: ServerRules;
  readonly #clients = new Map<WebSocket, SocketClient>();
  /** Those who did not say yet who they are, the oldest first. */
  readonly #unknown = new Set<SocketClient>();
  readonly #alive = new WeakSet<WebSocket>();
  #server: Promise<WebSocketServer> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(parts: ServerParts, rules: ServerRules) {
    this.#parts = parts;
    this.#rules = rules;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Never rejects. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => {}); // whoever hangs up now wants no answer
    try {
      checkCaller(request, this.#rules.gate);
      const [path] = (request.url ?? "").split("?");
      if (path !== "/v1/ws") throw new HttpProblem("bad-request", "Only /v1/ws is a WebSocket");
      const client = this.#clientOf(request);
      this.#server ??= this.#open();
      const server = await this.#server;
      server.handleUpgrade(request, socket, head, (opened) => this.#add(opened, client, request));
      this.#parts.metrics.answered("ws", 101);
    } catch (error) {
      this.#parts.metrics.answered("ws", toProblem(error).status);
      socket.end(toRawResponse(error));
    }
  }

  /** Everybody is told to come back later. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    for (const client of this.#clients.values()) client.close(1001, "The server is ending");
    const patience = setTimeout(() => {
      for (const socket of this.#clients.keys()) socket.terminate();
    }, 1_000);
    await Promise.all(
      [...this.#clients.keys()].map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))),
    );
    clearTimeout(patience);
  }

  async #open(): Promise<WebSocketServer> {
    const { WebSocketServer } = await import("ws");
    this.#heartbeat = setInterval(() => this.#ping(), this.#rules.heartbeatMs);
    this.#heartbeat.unref();
    return new WebSocketServer({
      noServer: true,
      maxPayload: this.#rules.bodyBytes,
      perMessageDeflate: false, // nothing to blow up, and no memory for each connection
      handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
    });
  }

  /** By a header, or by a subprotocol, which is all that a browser can send; undefined: it will say so itself. */
  #clientOf(request: IncomingMessage): Client | undefined {
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    const token = bearerOf(request) ?? offered.find((name) => name.startsWith(tokenPrefix))?.slice(tokenPrefix.length);
    if (token !== undefined || !offered.includes(subprotocol)) {
      const client = identify(request, token, { tokens: this.#parts.tokens, rules: this.#rules });
      limitRate(client, this.#rules);
      return client;
    }
    return undefined;
  }

  #add(socket: WebSocket, client: Client | undefined, request: IncomingMessage): void {
    const { sessions, version, tokens } = this.#parts;
    const rules = this.#rules;
    this.#alive.add(socket);
    socket.on("pong", () => void this.#alive.add(socket));
    socket.on("close", () => {
      this.#unknown.delete(added);
      this.#clients.delete(socket);
    });
    const added = new SocketClient({
      ...{ socket, client, sessions, version },
      letIn: (token) => identify(request, typeof token === "string" ? token : undefined, { tokens, rules }),
      lease: (one, end) => rules.leases.take(one, end),
      count: (one) => limitRate(one, rules),
      maxBufferedBytes: rules.bufferedBytes,
    });
    this.#clients.set(socket, added);
    if (!client) this.#boundUnknown(added);
  }

  /** Of those who did not say yet who they are, the oldest make room. */
  #boundUnknown(added: SocketClient): void {
    for (const one of this.#unknown) if (one.client) this.#unknown.delete(one);
    this.#unknown.add(added);
    for (const oldest of this.#unknown) {
      if (this.#unknown.size <= mostUnknown) return;
      this.#unknown.delete(oldest);
      oldest.close(1013, "Too many who did not say who they are");
    }
  }

  /** Whoever has not answered the last time is gone. */
  #ping(): void {
    for (const socket of this.#clients.keys()) {
      if (!this.#alive.has(socket)) {
        socket.terminate();
        continue;
      }
      this.#alive.delete(socket);
      socket.ping();
    }
  }
}
