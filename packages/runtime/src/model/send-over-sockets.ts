import type { IncomingMessage } from "node:http";
import type { Connections } from "./connections.ts";
import { drainMs, type Hearing, type Send, type Sending } from "./sending.ts";

/** Over Node's own client. */
export function createSocketSender(connections: Connections): Send {
  return (sending, hear) => sendOver(connections, sending, hear);
}

function sendOver(connections: Connections, { url, method, headers, body }: Sending, hear: Hearing): { destroy(): void } {
  const connecting = new AbortController();
  let answer: IncomingMessage | undefined;
  const bytes = body === undefined ? undefined : Buffer.from(body); // once: to count them first would be a second look at all of it
  const route = connections.route(url, connecting.signal);
  const { request } = process.getBuiltinModule(route.module);
  const outgoing = request({
    ...route.options,
    method,
    headers: { ...headers, ...headersOf(route.options), ...(bytes && { "content-length": String(bytes.length) }) },
  });
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !route.readyEvent) return hear.connected();
    socket.once(route.readyEvent, hear.connected);
    outgoing.once("close", () => socket.off(route.readyEvent ?? "connect", hear.connected));
  });
  outgoing.once("response", (incoming) => {
    answer = incoming;
    incoming.on("error", () => {}); // reaches the reader through its iterator
    hear.answered({
      status: incoming.statusCode ?? 0,
      headers: flatten(incoming.headers),
      chunks: incoming.iterator({ destroyOnReturn: false }),
      drain: () => drain(incoming),
    });
  });
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    if (answer) return;
    if (outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) return hear.stale();
    hear.failed(error);
  });
  outgoing.end(bytes);
  return {
    destroy() {
      connecting.abort();
      outgoing.destroy();
      answer?.destroy();
    },
  };
}

function drain(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  incoming.socket.unref();
  const timer = setTimeout(() => incoming.destroy(), drainMs);
  timer.unref();
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
}

function headersOf(options: { headers?: unknown }): Record<string, string> {
  return options.headers as Record<string, string>; // `route` always gives a plain record
}

function flatten(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) flat[name] = String(value);
  return flat;
}
