import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { type ServerRules, identify, limitRate } from "./let-in.ts";
import { AcpSocket } from "./acp-socket.ts";
import { type Client, may } from "./client.ts";
import { bearerOf, checkCaller } from "./gatekeeper.ts";
import { HttpProblem, toProblem, toRawResponse } from "./problem.ts";
import type { ServerParts } from "./route.ts";
import { SocketClient } from "./socket-client.ts";
import { progressOf } from "./stall-watch.ts";

/** What a browser offers beside its token, and gets. */
const subprotocol = "outrider.v1";
const tokenPrefix = "outrider.token.";

/** Connections that have not said yet who they are. */
const mostUnknown = 100;

type Connection = { readonly stream: Socket; close(code: number, reason: string): void };

/** `/v1/ws`, and `/acp` where that is wanted. The package is loaded with the first connection. */
export class SocketServer {
  readonly #parts: ServerParts;
  readonly #rules: ServerRules;
  readonly #clients = new Map<WebSocket, Connection>();
  /** Those who did not say yet who they are, the oldest first. */
  readonly #unknown = new Set<SocketClient>();
  /** Pings without an answer, and what had been taken when they were sent. */
  readonly #unanswered = new WeakMap<WebSocket, number>();
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
      const isAcp = path === "/acp" && this.#parts.acp !== undefined;
      if (path !== "/v1/ws" && !isAcp) throw new HttpProblem("bad-request", "Only /v1/ws is a WebSocket");
      const client = this.#clientOf(request);
      if (isAcp && (!client || !may(client, "admin"))) throw new HttpProblem("forbidden", "/acp needs the scope admin");
      this.#server ??= this.#open();
      const server = await this.#server;
      server.handleUpgrade(request, socket, head, (opened) =>
        isAcp && client ? this.#addAcp(opened, client, request) : this.#add(opened, client, request),
      );
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
    // After a pause of the process clocks are heard before sockets: answers that have come are read first.
    this.#heartbeat = setInterval(() => setImmediate(() => this.#ping()), this.#rules.heartbeatMs);
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
    socket.on("pong", () => void this.#unanswered.delete(socket));
    socket.on("close", () => {
      this.#unknown.delete(added);
      this.#clients.delete(socket);
    });
    const added = new SocketClient({
      ...{ socket, stream: request.socket, client, sessions, version },
      letIn: (token) => identify(request, typeof token === "string" ? token : undefined, { tokens, rules }),
      lease: (one, end) => rules.leases.take(one, end),
      count: (one) => limitRate(one, rules),
      keys: rules.keys,
      maxBufferedBytes: rules.bufferedBytes,
      stalledMs: rules.stalledMs,
    });
    this.#clients.set(socket, { stream: request.socket, close: (code, reason) => added.close(code, reason) });
    if (!client) this.#boundUnknown(added);
  }

  #addAcp(socket: WebSocket, client: Client, request: IncomingMessage): void {
    const { acp, warn } = { ...this.#parts, ...this.#rules };
    if (!acp) return;
    socket.on("pong", () => void this.#unanswered.delete(socket));
    const { release } = this.#rules.leases.take(client, () => added.close(1008, "The token counts no longer"));
    const onEnd = (): void => {
      release();
      this.#clients.delete(socket);
    };
    const added = new AcpSocket({ socket, open: acp, onEnd, warn, count: () => limitRate(client, this.#rules) });
    this.#clients.set(socket, { stream: request.socket, close: (code, reason) => added.close(code, reason) });
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

  /** Whoever has not answered the last time is gone, unless they still read what was said before. */
  #ping(): void {
    for (const [socket, { stream }] of this.#clients) {
      const before = this.#unanswered.get(socket);
      const progress = progressOf(stream);
      if (before !== undefined && (stream.writableLength === 0 || before === progress)) {
        socket.terminate();
        continue;
      }
      this.#unanswered.set(socket, progress);
      socket.ping();
    }
  }
}
