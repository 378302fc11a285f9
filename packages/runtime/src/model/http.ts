import type { ClientRequest, IncomingMessage } from "node:http";
import { RuntimeError } from "../protocol/errors.ts";
import { type ConnectionOptions, type Connections, createConnections } from "./connections.ts";
import { toNetworkError } from "./network-error.ts";

/** How long each stage of an exchange may take. `idleMs` runs only while somebody waits for bytes. */
export type Timeouts = { connectMs: number; headersMs: number; firstByteMs: number; idleMs: number; totalMs: number };

export const defaultTimeouts: Readonly<Timeouts> = {
  connectMs: 10_000,
  headersMs: 120_000,
  firstByteMs: 120_000,
  idleMs: 90_000,
  totalMs: 3_600_000,
};

export type HttpRequest = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly timeouts?: Partial<Timeouts>;
  /** Do not use a connection that was used before. */
  readonly fresh?: boolean;
};

/** `body` must be read, at least its beginning; until its reader ends or returns, the exchange holds its connection. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
};

export interface HttpClient {
  /** Resolves with the headers. Rejects with a RuntimeError, or with the signal's reason; so does the body. */
  openStream(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

/** Streaming HTTP over connections that are kept for the next request. */
export function createHttpClient(options: ConnectionOptions = {}): HttpClient {
  const connections = createConnections(options);
  return {
    async openStream(request) {
      if (request.fresh) connections.dropIdle();
      const response = await new Exchange(request, connections).open();
      if (response !== "stale") return decoded(response);
      connections.dropIdle();
      const second = await new Exchange(request, connections).open();
      if (second !== "stale") return decoded(second);
      throw new RuntimeError("provider-unavailable", `${new URL(request.url).host} closes every connection at once`, {
        retryable: true,
      });
    },
    close: () => connections.close(),
  };
}

/** Nobody asks for compressed answers, which come later than others; gateways send them all the same. */
async function decoded(response: HttpResponse): Promise<HttpResponse> {
  const encoding = response.headers["content-encoding"];
  if (!encoding) return response;
  const { decodeBody } = await import("./decode-body.ts");
  return { ...response, body: decodeBody(response.body, encoding) };
}

/** The beginning of a body as text; what is beyond `maxBytes` is left unread. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let room = maxBytes;
  for await (const chunk of body) {
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    room -= chunk.byteLength;
    if (room <= 0) return text;
  }
  return text + decoder.decode();
}

/** How long the rest of an answer that nobody reads may take before its connection is given up. */
const drainMs = 1_000;

type Stage = keyof Timeouts;

/** One request and its answer. Knows which stage it is in, and says why it failed in the words of that stage. */
class Exchange {
  readonly #request: HttpRequest;
  readonly #connections: Connections;
  readonly #timeouts: Timeouts;
  readonly #url: URL;
  readonly #connecting = new AbortController();
  readonly #onAbort = (): void => this.#fail(this.#request.signal.reason);
  #total: NodeJS.Timeout | undefined;
  #stage: NodeJS.Timeout | undefined;
  #outgoing: ClientRequest | undefined;
  #incoming: IncomingMessage | undefined;
  #failure: { reason: unknown } | undefined;
  #reject: (reason: unknown) => void = () => {};

  constructor(request: HttpRequest, connections: Connections) {
    this.#request = request;
    this.#connections = connections;
    this.#timeouts = { ...defaultTimeouts, ...request.timeouts };
    this.#url = new URL(request.url);
  }

  /** `stale`: the server had closed the kept connection in the meantime, and the request never reached it. */
  open(): Promise<HttpResponse | "stale"> {
    const { signal } = this.#request;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      this.#reject = reject;
      signal.addEventListener("abort", this.#onAbort, { once: true });
      this.#total = this.#timer("totalMs");
      this.#enter("connectMs");
      try {
        this.#send(resolve);
      } catch (error) {
        this.#fail(toNetworkError(error, this.#url.host));
      }
    });
  }

  #send(resolve: (response: HttpResponse | "stale") => void): void {
    const { method, headers, body } = this.#request;
    const bytes = body === undefined ? undefined : Buffer.from(body); // once: to count them first would be a second look at all of it
    const route = this.#connections.route(this.#url, this.#connecting.signal);
    const { request } = process.getBuiltinModule(route.module);
    const outgoing = request({
      ...route.options,
      method,
      headers: { ...headers, ...headersOf(route.options), ...(bytes && { "content-length": String(bytes.length) }) },
    });
    this.#outgoing = outgoing;
    outgoing.once("socket", (socket) => {
      const connected = (): void => this.#enter("headersMs");
      if (outgoing.reusedSocket || !route.readyEvent) return connected();
      socket.once(route.readyEvent, connected);
      outgoing.once("close", () => socket.off(route.readyEvent ?? "connect", connected));
    });
    outgoing.once("response", (incoming) => {
      this.#leave();
      this.#incoming = incoming;
      incoming.on("error", () => {}); // reaches the reader through its iterator
      resolve({ status: incoming.statusCode ?? 0, headers: flatten(incoming.headers), body: this.#read(incoming) });
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (this.#failure || this.#incoming) return;
      if (outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) {
        this.#end();
        return resolve("stale");
      }
      this.#fail(toNetworkError(error, this.#url.host));
    });
    outgoing.end(bytes);
  }

  async *#read(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
    const chunks: AsyncIterator<Uint8Array> = incoming.iterator({ destroyOnReturn: false });
    let stage: Stage = "firstByteMs";
    try {
      while (true) {
        if (this.#failure) throw this.#failure.reason;
        this.#enter(stage);
        const next = await chunks.next();
        this.#leave();
        if (next.done) return;
        stage = "idleMs";
        yield next.value;
      }
    } catch (error) {
      throw this.#failure ? this.#failure.reason : toNetworkError(error, this.#url.host);
    } finally {
      this.#end();
      await chunks.return?.();
      if (!this.#failure) drain(incoming);
    }
  }

  #enter(stage: Stage): void {
    this.#leave();
    if (!this.#failure) this.#stage = this.#timer(stage);
  }

  #leave(): void {
    clearTimeout(this.#stage);
  }

  #timer(stage: Stage): NodeJS.Timeout {
    const ms = this.#timeouts[stage];
    return setTimeout(() => this.#fail(timeoutError(stage, ms, this.#url.host)), ms);
  }

  #fail(reason: unknown): void {
    if (this.#failure) return;
    this.#failure = { reason };
    this.#end();
    this.#connecting.abort();
    this.#outgoing?.destroy();
    this.#incoming?.destroy();
    this.#reject(reason);
  }

  #end(): void {
    this.#leave();
    clearTimeout(this.#total);
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }
}

/** Lets the rest of an answer run out, so that its connection serves the next request; nobody waits for it. */
function drain(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  incoming.socket.unref();
  const timer = setTimeout(() => incoming.destroy(), drainMs);
  timer.unref();
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
}

const stageWords: Record<Stage, (host: string) => string> = {
  connectMs: (host) => `No connection to ${host}`,
  headersMs: (host) => `${host} sent no response headers`,
  firstByteMs: (host) => `${host} sent headers but no first byte`,
  idleMs: (host) => `${host} stopped sending: nothing came`,
  totalMs: (host) => `${host} did not come to the end of its answer`,
};

function timeoutError(stage: Stage, ms: number, host: string): RuntimeError {
  const time = ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
  return new RuntimeError("provider-timeout", `${stageWords[stage](host)} within ${time}`, { retryable: true });
}

function headersOf(options: { headers?: unknown }): Record<string, string> {
  return options.headers as Record<string, string>; // `route` always gives a plain record
}

function flatten(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) flat[name] = String(value);
  return flat;
}
