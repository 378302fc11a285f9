import { idleSocketMs } from "./connections.ts";
import { codeOf } from "./network-error.ts";
import { bareHost, portOf } from "./proxy.ts";
import { type Answer, drainMs, type Hearing, type Send, type Sending } from "./sending.ts";

/** What Bun's `fetch` takes beside what the web's does. */
type Init = RequestInit & { readonly decompress: false; readonly timeout: false; readonly proxy: false };

/** So long is waited for a second connection, where nothing was heard of the first. */
const probeMs = 3_000;

/**
 * Over the runtime's own client, in Bun: its `node:http` takes 13 ms to get ready for a first request, and this next to nothing. It keeps
 * connections by itself. Straight to the server: proxies and certificates of one's own are for sockets.
 */
export function createFetchSender(): Send {
  let usedAt: number | undefined;
  return (sending, hear) => {
    const isOld = usedAt !== undefined && Date.now() - usedAt > idleSocketMs;
    const fresh = sending.fresh || isOld;
    const mayBeStale = usedAt !== undefined && !fresh;
    const failed = (error: unknown): void =>
      mayBeStale && codeOf(error) === "ECONNRESET" ? hear.stale() : hear.failed(likeSocket(error, bareHost(sending.url)));
    return send({ ...sending, fresh }, { ...hear, failed }, () => {
      usedAt = Date.now();
    });
  };
}

function send({ url, method, headers, body, fresh, connectMs }: Sending, hear: Hearing, use: () => void): { destroy(): void } {
  const controller = new AbortController();
  const init: Init = {
    method,
    headers: { "accept-encoding": "identity", ...headers },
    ...(body !== undefined && { body }),
    signal: controller.signal,
    keepalive: !fresh,
    redirect: "manual",
    decompress: false,
    timeout: false,
    proxy: false,
  };
  // Nobody tells when there is a connection. Where no answer has begun by then, another one shows whether there can be any.
  const timer = setTimeout(() => {
    void canConnect(url, controller.signal).then((can) => can || hear.unreachable());
  }, connectMs);
  fetch(url, init).then(
    (response) => {
      clearTimeout(timer);
      use();
      hear.answered(toAnswer(response, controller, use));
    },
    (error: unknown) => {
      clearTimeout(timer);
      hear.failed(error);
    },
  );
  hear.connected();
  return {
    destroy() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

function toAnswer({ status, headers, body }: Response, controller: AbortController, use: () => void): Answer {
  const reader = body?.getReader();
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const { value } = (await reader?.read()) ?? {};
    if (value !== undefined) return { done: false, value };
    use();
    return { done: true, value };
  };
  return { status, headers: Object.fromEntries(headers), chunks: { next }, drain: () => drain(next, controller) };
}

function drain(next: () => Promise<IteratorResult<Uint8Array>>, controller: AbortController): void {
  const timer = setTimeout(() => controller.abort(), drainMs);
  timer.unref();
  const readOn = async (): Promise<void> => {
    while (!(await next()).done);
  };
  readOn().then(
    () => clearTimeout(timer),
    () => clearTimeout(timer), // cut, by us or by the server: nobody waits for it
  );
}

/** False when nothing is heard of the server in time. A refusal is an answer, too. */
function canConnect(url: URL, signal: AbortSignal): Promise<boolean> {
  const { connect, isIP } = process.getBuiltinModule("node:net");
  const isSecure = url.protocol === "https:";
  const target = { host: bareHost(url), port: portOf(url), timeout: probeMs };
  const secure = { ...target, ...(isIP(target.host) === 0 && { servername: target.host }) };
  const socket = isSecure ? process.getBuiltinModule("node:tls").connect(secure) : connect(target);
  return new Promise((resolve) => {
    const settle = (can: boolean): void => {
      signal.removeEventListener("abort", give);
      socket.destroy();
      resolve(can);
    };
    const give = (): void => settle(true);
    socket.once("timeout", () => settle(false));
    socket.once(isSecure ? "secureConnect" : "connect", give);
    socket.on("error", give);
    signal.addEventListener("abort", give, { once: true });
  });
}

/** Sockets say at which address nothing listens, and have a code for a header that cannot be written. */
function likeSocket(error: unknown, host: string): unknown {
  const code = codeOf(error);
  if (code === "ECONNREFUSED") return Object.assign(error as Error, { address: host === "localhost" ? "127.0.0.1" : host });
  if (error instanceof TypeError && code === undefined) return Object.assign(error, { code: "ERR_INVALID_CHAR" });
  return error;
}
