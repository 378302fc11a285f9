import type { JsonObject } from "../../protocol/content.ts";

/** A client of `/acp`, as the agent sees it. */
export interface AcpWire {
  /** Resolves when the message is on its way; rejects when the client has gone. */
  send(text: string): Promise<void>;
  close(): void;
}

/** The agent of one client, as its connection sees it. */
export interface AcpPeer {
  /** A message as it came, which is an object and not nested too deeply. */
  hear(message: JsonObject): void;
  /** The client has gone: its sessions end. */
  leave(): Promise<void>;
}

/** Given by the program: the protocol itself, with the official package or another one. */
export type OpenAcp = (wire: AcpWire) => Promise<AcpPeer>;
