import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

/** Does the request want a WebSocket? */
export function wantsSocket({ headers }: IncomingMessage): boolean {
  return /\bwebsocket\b/i.test(headers.upgrade ?? "");
}

/**
 * Another protocol is offered and not demanded (Java's client and `curl --http2` offer HTTP/2 with each request): the request is answered as if
 * the offer had not been there. Node has taken its parser off the connection by then, so the connection comes once more.
 */
export function answerWithoutOffer(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (/^(?:upgrade|http2-settings)$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? withoutOffers(value) : value;
    if (kept !== "") lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("encrypted" in socket ? "secureConnection" : "connection", socket);
}

function withoutOffers(value: string): string {
  const words = value.split(",").map((word) => word.trim());
  return words.filter((word) => !/^(?:upgrade|http2-settings)$/i.test(word)).join(", ");
}
