import type { Socket } from "node:net";
import type { RawData, WebSocket } from "ws";
import type { HeldSession } from "../../hosting/session-host.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { parseBoundedJson, UnwieldyJson } from "../../util/bounded-json.ts";
import { isRecord } from "../../util/is-record.ts";
import { toSafeJson } from "../../util/jsonl.ts";
import { createWsHandler, type WsHandler } from "../ws/ws-handler.ts";
import { checkAnswer, type Client, may } from "./client.ts";
import { type KeyLedger, keyedPrompt } from "./key-ledger.ts";
import type { Lease } from "./leases.ts";
import { HttpProblem, toProblem } from "./problem.ts";
import type { ServedSessions } from "./served-sessions.ts";
import { StallWatch } from "./stall-watch.ts";

export type SocketOptions = {
  readonly socket: WebSocket;
  /** What the socket writes to. */
  readonly stream: Socket;
  /** Who it is, where the token came with the connection; else the first message has to say it. */
  readonly client: Client | undefined;
  readonly sessions: ServedSessions;
  readonly version: string;
  /** Whose token it is; throws where that is nobody's, or too many wrong ones came. */
  readonly letIn: (token: unknown) => Client;
  /** The connection lasts as long as the token of this client counts. */
  readonly lease: (client: Client, end: () => void) => Lease;
  /** One more message of this client; throws where there are too many. */
  readonly count: (client: Client) => void;
  /** What the keys of prompts were given with. */
  readonly keys: KeyLedger;
  readonly maxBufferedBytes: number;
  /** It is dropped when it has taken nothing of what waits for it for so long. */
  readonly stalledMs: number;
};

/** How long a connection may stay without having said who it is. */
const helloMs = 5_000;

/** Bytes before that. Data comes in pieces of 64 kB, and more than the hello may be in one. */
const mostBeforeHello = 128 << 10;

/** How many sessions one connection may be subscribed to. */
const mostSubscriptions = 1_000;

type Subscription = { readonly held: HeldSession; readonly handler: WsHandler; readonly goAway: () => void };

/** What a message is about, as far as it concerns the connection and not the session. */
type Envelope = {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly sessionId?: unknown;
  readonly [name: string]: unknown;
};

/** One connection of `/v1/ws`: it says who it is, subscribes to sessions, and talks to each of them as to one that it had for itself. */
export class SocketClient {
  readonly #options: SocketOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #stall: StallWatch;
  #client: Client | undefined;
  #lease: Lease | undefined;
  #isOver = false;
  /** One after the other: what follows a `subscribe` is for that session. */
  #before: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: SocketOptions) {
    this.#options = options;
    const { socket, client, stream, stalledMs } = options;
    this.#stall = new StallWatch({ stream, stalledMs, onStall: () => this.#drop() });
    socket.on("message", (data, isBinary) => this.#hear(data, isBinary));
    socket.on("close", () => this.end());
    socket.on("error", () => {}); // it is closed then
    if (client) this.#welcome(client, undefined);
    else this.#awaitHello();
  }

  get client(): Client | undefined {
    return this.#client;
  }

  close(code: number, reason: string): void {
    this.end();
    this.#options.socket.close(code, reason);
  }

  /** Anybody may be there: until it is known who, there is little time, and little is read. */
  #awaitHello(): void {
    setTimeout(() => this.#client ?? this.close(1008, "Say hello with a token"), helloMs).unref();
    const { stream } = this.#options;
    const before = stream.bytesRead;
    const watch = (): void => {
      if (this.#client) stream.off("data", watch);
      else if (stream.bytesRead - before > mostBeforeHello) this.#drop();
    };
    stream.on("data", watch);
  }

  /** Lets go of everything; the sessions go on. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stall.end();
    this.#lease?.release();
    for (const sessionId of [...this.#subscriptions.keys()]) this.#unsubscribe(sessionId);
  }

  #hear(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    if (isBinary) return this.close(1003, "Messages are texts");
    if (this.#waiting >= mostWaiting)
      return this.#refuse(readEnvelope(String(data)), new RuntimeError("busy", "Too many messages at once", { retryable: true }));
    this.#waiting++;
    this.#before = this.#before.then(() => this.#take(String(data))).finally(() => this.#waiting--);
  }

  /** Never rejects. */
  async #take(text: string): Promise<void> {
    let envelope: Envelope = {};
    try {
      envelope = parseEnvelope(text);
      if (envelope.type === "hello") return this.#hello(envelope);
      const client = this.#client;
      if (!client) return this.close(1008, "Say hello with a token");
      if (this.#isOver || !this.#lease?.check()) return;
      this.#options.count(client);
      if (envelope.type === "subscribe") return await this.#subscribe(client, envelope);
      if (envelope.type === "unsubscribe") return this.#leave(envelope);
      this.#route(client, envelope, text);
    } catch (error) {
      this.#refuse(envelope, error);
    }
  }

  #hello(envelope: Envelope): void {
    if (this.#client) return this.#welcome(this.#client, envelope.id);
    try {
      this.#welcome(this.#options.letIn(envelope["token"]), envelope.id);
    } catch (error) {
      this.#refuse(envelope, error);
      this.close(1008, "This token is not known");
    }
  }

  #welcome(client: Client, id: unknown): void {
    this.#client = client;
    this.#lease ??= this.#options.lease(client, () => this.close(1008, "This token counts no longer"));
    const { name, scopes } = client;
    void this.#send({
      type: "hello",
      protocol: 1,
      version: this.#options.version,
      client: { name, scopes: [...scopes] },
      ...withId(id),
    });
  }

  async #subscribe(client: Client, { sessionId, after, id }: Envelope): Promise<void> {
    if (typeof sessionId !== "string" || sessionId === "") throw new RuntimeError("usage", "sessionId is required");
    if (after !== undefined && !(Number.isSafeInteger(after) && Number(after) >= 0))
      throw new RuntimeError("usage", "after is the number of an event");
    if (this.#subscriptions.size >= mostSubscriptions)
      throw new RuntimeError("limit-reached", `${mostSubscriptions} subscriptions are enough`);
    const { sessions } = this.#options;
    // Who may only look opens nothing: hooks and servers would start for it.
    if (!(await sessions.look(client, sessionId)) && !may(client, "drive"))
      throw new RuntimeError(
        "closed",
        `Session ${sessionId} is not open; GET /v1/sessions/${sessionId}/events tells what is stored`,
      );
    const held = await sessions.hold(client, sessionId);
    if (this.#isOver) return held.release();
    this.#unsubscribe(sessionId);
    void this.#send({ type: "subscribed", sessionId, seq: held.session.storedSeq, ...withId(id) });
    const handler = createWsHandler({
      session: held.session,
      send: (message) => this.#send({ ...message, sessionId }),
      after: after === undefined ? undefined : Number(after),
      mayDrive: may(client, "drive"),
      mayAnswer: may(client, "approve"),
      questions: "keep",
      admit: () => sessions.beginPrompt(client),
      onEnd: (reason) => this.#ended(sessionId, held, reason),
    });
    this.#subscriptions.set(sessionId, { held, handler, goAway: sessions.attend(client, sessionId) });
  }

  #leave({ sessionId, id }: Envelope): void {
    if (typeof sessionId !== "string" || !this.#unsubscribe(sessionId))
      throw new RuntimeError("not-found", "There is no such subscription");
    void this.#send({ type: "unsubscribed", sessionId, ...withId(id) });
  }

  /** To the session that it names; to the only one where it names none. */
  #route(client: Client, envelope: Envelope, text: string): void {
    const { sessionId = this.#subscriptions.size === 1 ? [...this.#subscriptions.keys()][0] : undefined } = envelope;
    const subscription = typeof sessionId === "string" ? this.#subscriptions.get(sessionId) : undefined;
    if (!subscription) throw new RuntimeError("usage", "Subscribe to the session first, and name it with sessionId");
    checkAnswer(client, { remember: envelope["remember"], updatedInput: envelope["updatedInput"] });
    // A key is of this client alone, as in a request.
    const { key, prompt, images = [] } = envelope;
    if (typeof key !== "string" || key === "") return subscription.handler.onMessage(text);
    const pictures = (Array.isArray(images) ? images : []).map((image: unknown) => ({ type: "image", ...Object(image) }));
    const content = [{ type: "text", text: prompt }, ...pictures];
    if (envelope.type === "submit") this.#options.keys.check(client.name, key, keyedPrompt(String(sessionId), content));
    subscription.handler.onMessage(JSON.stringify({ ...envelope, key: `${client.name}:${key}` }));
  }

  #unsubscribe(sessionId: string): boolean {
    const subscription = this.#subscriptions.get(sessionId);
    if (!subscription) return false;
    this.#subscriptions.delete(sessionId);
    subscription.handler.cleanup();
    subscription.goAway();
    subscription.held.release();
    return true;
  }

  /** The session was closed, or this client stayed behind: it comes back with `after`. */
  #ended(sessionId: string, held: HeldSession, reason: RuntimeError | undefined): void {
    if (this.#subscriptions.get(sessionId)?.held !== held) return;
    this.#unsubscribe(sessionId);
    if (reason?.code === "subscriber-overflow") return this.close(1013, "Too slow: come back with after");
    const error = reason && { error: { code: reason.code, message: reason.message } };
    void this.#send({ type: "unsubscribed", sessionId, ...error });
  }

  #refuse({ id, sessionId }: Envelope, error: unknown): void {
    const { code, detail, retryable } = toProblem(error instanceof HttpProblem ? error : toRuntimeError(error)).body;
    const place = typeof sessionId === "string" ? { sessionId } : {};
    void this.#send({ type: "protocol_error", message: detail, code, retryable, ...place, ...withId(id) });
  }

  /** A promise while much waits: the next event of that session comes when there is room. */
  #send(message: object): void | Promise<void> {
    const { socket, maxBufferedBytes } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    const text = toSafeJson(message);
    // Events wait for room, so only answers that nobody reads come as far as this.
    if (socket.bufferedAmount > mostUnread) return this.#drop();
    if (socket.bufferedAmount < maxBufferedBytes / 4) return socket.send(text);
    this.#stall.begin();
    return new Promise((resolve) => socket.send(text, () => resolve()));
  }

  /** It does not read: a closing frame would not be read either. */
  #drop(): void {
    this.end();
    this.#options.socket.terminate();
  }
}

/** Bytes of answers that a client may leave unread. */
const mostUnread = 64 << 20;

/** Messages of one connection that wait for an earlier one. */
const mostWaiting = 256;

function parseEnvelope(text: string): Envelope {
  try {
    const value = parseBoundedJson(text);
    return isRecord(value) ? value : {};
  } catch (error) {
    throw new RuntimeError("usage", error instanceof UnwieldyJson ? `The message is ${error.message}` : "Invalid JSON");
  }
}

/** Of a message that is refused anyway: whose it is. */
function readEnvelope(text: string): Envelope {
  try {
    return parseEnvelope(text);
  } catch {
    return {};
  }
}

function withId(id: unknown): { readonly id?: string | number } {
  return typeof id === "number" || (typeof id === "string" && id.length <= 200) ? { id } : {};
}
