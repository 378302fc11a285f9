import { RuntimeError } from "../protocol/errors.ts";
import { type ConnectionOptions, createConnections } from "./connections.ts";
import { toNetworkError } from "./network-error.ts";
import { createSocketSender } from "./send-over-sockets.ts";
import type { Answer, Hearing, Send } from "./sending.ts";

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
  const overSockets = createSocketSender(connections);
  let withFetch: Send | undefined;
  const senderFor = async (url: URL): Promise<Send> => {
    if (process.versions["bun"] === undefined || !connections.isPlain(url)) return overSockets;
    withFetch ??= (await import("./send-with-fetch.ts")).createFetchSender();
    return withFetch;
  };
  return {
    async openStream(request) {
      if (request.fresh) connections.dropIdle();
      const url = new URL(request.url);
      const send = await senderFor(url);
      const response = await new Exchange(request, url, send).open();
      if (response !== "stale") return decoded(response);
      connections.dropIdle();
      const second = await new Exchange({ ...request, fresh: true }, url, send).open();
      if (second !== "stale") return decoded(second);
      throw new RuntimeError("provider-unavailable", `${url.host} closes every connection at once`, { retryable: true });
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

type Stage = keyof Timeouts;

/** One request and its answer. Knows which stage it is in, and says why it failed in the words of that stage. */
class Exchange {
  readonly #request: HttpRequest;
  readonly #url: URL;
  readonly #send: Send;
  readonly #timeouts: Timeouts;
  readonly #onAbort = (): void => this.#fail(this.#request.signal.reason);
  #total: NodeJS.Timeout | undefined;
  #stage: NodeJS.Timeout | undefined;
  #sent: ReturnType<Send> | undefined;
  #failure: { reason: unknown } | undefined;
  #reject: (reason: unknown) => void = () => {};

  constructor(request: HttpRequest, url: URL, send: Send) {
    this.#request = request;
    this.#url = url;
    this.#send = send;
    this.#timeouts = { ...defaultTimeouts, ...request.timeouts };
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
      const { method, headers, body, fresh = false } = this.#request;
      const { connectMs } = this.#timeouts;
      try {
        const sending = { url: this.#url, method, headers, body, fresh, connectMs };
        this.#sent = this.#send(sending, this.#hearing(resolve));
      } catch (error) {
        this.#fail(toNetworkError(error, this.#url.host));
      }
    });
  }

  #hearing(resolve: (response: HttpResponse | "stale") => void): Hearing {
    return {
      connected: () => this.#enter("headersMs"),
      answered: (answer) => {
        this.#leave();
        resolve({ status: answer.status, headers: answer.headers, body: this.#read(answer) });
      },
      failed: (error) => this.#fail(toNetworkError(error, this.#url.host)),
      unreachable: () => this.#fail(this.#timeoutError("connectMs")),
      stale: () => {
        if (this.#failure) return;
        this.#end();
        resolve("stale");
      },
    };
  }

  async *#read({ chunks, drain }: Answer): AsyncGenerator<Uint8Array> {
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
      if (!this.#failure) drain();
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
    return setTimeout(() => this.#fail(this.#timeoutError(stage)), this.#timeouts[stage]);
  }

  #timeoutError(stage: Stage): RuntimeError {
    return timeoutError(stage, this.#timeouts[stage], this.#url.host);
  }

  #fail(reason: unknown): void {
    if (this.#failure) return;
    this.#failure = { reason };
    this.#end();
    this.#sent?.destroy();
    this.#reject(reason);
  }

  #end(): void {
    this.#leave();
    clearTimeout(this.#total);
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }
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
