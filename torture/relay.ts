import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { pipeline, Transform } from "node:stream";

export type Target = { readonly host: string; readonly port: number /** Each way. */; readonly delayMs?: number };

/** A load balancer of connections: each goes to the next target that takes it within a second. Answers its port. */
export async function openRelay(host: string, targets: readonly Target[], port = 0): Promise<number> {
  let next = 0;
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    client.on("error", () => client.destroy());
    void (async () => {
      for (let tries = 0; tries < targets.length * 2; tries++) {
        const target = targets[next++ % targets.length];
        const socket = target && (await reach(target));
        if (socket) return join(client, socket, target.delayMs ?? 0);
      }
      client.destroy();
    })();
  }).listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // it listens on a port
}

async function reach({ host, port }: Target): Promise<Socket | undefined> {
  const socket = connect({ host, port, noDelay: true, allowHalfOpen: true });
  const connected = once(socket, "connect").then(
    () => true,
    () => false,
  );
  if (await Promise.race([connected, delay(1_000, false)])) return socket;
  socket.on("error", () => {}).destroy();
  return undefined;
}

function join(client: Socket, server: Socket, delayMs: number): void {
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  const over = (error?: Error | null): void => void (error && end());
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    if (delayMs > 0) pipeline(from, later(delayMs), to, over);
    else pipeline(from, to, over);
  }
}

/** What goes through arrives so much later, in order. */
function later(delayMs: number): Transform {
  return new Transform({
    highWaterMark: 1024 * 1024,
    transform(chunk, _, done) {
      setTimeout(() => this.push(chunk), delayMs);
      done();
    },
    flush(done) {
      setTimeout(done, delayMs);
    },
  });
}
