import { RuntimeError } from "../../protocol/errors.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { TransportAdapter } from "../../session/transport-adapter.ts";
import { createWsHandler, type WsHandler, type WsHandlerOptions } from "./ws-handler.ts";

export type WsTransportOptions = Omit<WsHandlerOptions, "session">;

export type WsTransport = TransportAdapter & {
  readonly name: "ws";
  /** One message of the client; answered with `protocol_error` while the transport is not started. */
  readonly onMessage: (data: string) => void;
};

/** The same for a session that is attached later. */
export function createWsTransport(options: WsTransportOptions): WsTransport {
  let session: InteractiveSession<unknown> | undefined;
  let handler: WsHandler | undefined;
  const stop = (): void => {
    handler?.cleanup();
    handler = undefined;
  };
  return {
    name: "ws",
    attach(attached) {
      session = attached;
    },
    async start() {
      if (!session) throw new RuntimeError("usage", "The WebSocket transport is not attached to a session");
      handler ??= createWsHandler({ ...options, session });
    },
    async stop() {
      stop();
    },
    onMessage(data) {
      if (handler) return handler.onMessage(data);
      void options.send({ type: "protocol_error", message: "The transport is not started", code: "closed" });
    },
  };
}
