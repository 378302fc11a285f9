import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { WebSocketServer } from "ws";
import type { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { createWsHandler, type WsHandlerOptions } from "../../packages/runtime/src/exports/ws.ts";
import { SeedClient } from "./seed-client.ts";

export type WsOptions = Omit<WsHandlerOptions, "session" | "send">;

/** The seed's few lines around the `ws` package; each connection may have options of its own, told by its path. */
export async function serveSession(session: InteractiveSession<unknown>, optionsOf: (path: string) => WsOptions = () => ({})) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  let handlers = 0;
  server.on("connection", (socket, request) => {
    handlers++;
    const { onMessage, cleanup } = createWsHandler({
      session,
      send: (message) => socket.send(JSON.stringify(message)),
      ...optionsOf(request.url ?? "/"),
    });
    socket.on("message", (data) => onMessage(String(data)));
    socket.on("close", () => {
      cleanup();
      handlers--;
      server.emit("left");
    });
  });
  const { port } = server.address() as AddressInfo; // it listens
  const clients: SeedClient[] = [];
  after(async () => {
    for (const client of clients) client.vanish();
    server.close();
    await session.shutdown();
  });
  return {
    connect: async (path = "/"): Promise<SeedClient> => {
      const client = new SeedClient(`ws://127.0.0.1:${port}${path}`);
      clients.push(client);
      return await client.opened();
    },
    left: async (): Promise<void> => {
      while (handlers > 0) await once(server, "left");
    },
  };
}
