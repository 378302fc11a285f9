import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export type ProxyTarget = { readonly host: string; readonly port: number };

/** Its words go to the program in the box, and through it to the model. */
export class Refusal extends Error {}

/** Both directions, until either side ends. */
export function joinStreams(client: Duplex, upstream: Socket): void {
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
  client.pipe(upstream).pipe(client);
}
