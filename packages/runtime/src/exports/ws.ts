/** A session over a WebSocket, without the WebSocket: messages in, messages out. See docs/ws.md. */
export type { JobGroups } from "../transports/ws/job-groups.ts";
export type {
  ClientMessage,
  ClientMessageType,
  ClientRequests,
  PromptImage,
  RequestId,
  Resync,
  ServerEvent,
  ServerEvents,
  ServerMessage,
  ServerReplies,
  ServerReply,
  TurnResult,
} from "../transports/ws/messages.ts";
export { createWsHandler, type WsHandler, type WsHandlerOptions } from "../transports/ws/ws-handler.ts";
export { createWsTransport, type WsTransport, type WsTransportOptions } from "../transports/ws/ws-transport.ts";
