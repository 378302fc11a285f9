import type { WebSocket } from "ws";
import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { parseBoundedJson } from "../../util/bounded-json.ts";
import type { AcpPeer, OpenAcp } from "./acp-wire.ts";

type Options = {
  readonly socket: WebSocket;
  readonly open: OpenAcp;
  readonly onEnd: () => void;
  /** Counts a message; throws beyond the limit. */
  readonly count: () => void;
  readonly warn: (line: string) => void;
};

/** One connection of `/acp`: a JSON-RPC message is a text frame. What comes before the agent is there waits for it. */
export class AcpSocket {
  readonly #options: Options;
  readonly #peer: Promise<AcpPeer>;

  constructor(options: Options) {
    this.#options = options;
    const { socket, open, warn } = options;
    this.#peer = open({ send: (text) => this.#send(text), close: () => socket.close(1000) });
    this.#peer.catch((error: unknown) => {
      warn(`/acp: ${error instanceof Error ? error.message : String(error)}`);
      this.close(1011, "The agent could not be started");
    });
    socket.on("error", () => {}); // the close that follows says it
    socket.on("message", (data, isBinary) => (isBinary ? this.close(1003, "Messages are texts") : this.#hear(String(data))));
    socket.on("close", () => {
      options.onEnd();
      void this.#peer.then((peer) => peer.leave()).catch(() => {}); // told above
    });
  }

  close(code: number, reason: string): void {
    this.#options.socket.close(code, reason);
  }

  #hear(text: string): void {
    try {
      this.#options.count();
    } catch {
      return this.close(1013, "Too many messages in a minute");
    }
    const message = toMessage(text);
    if (message)
      void this.#peer.then((peer) => peer.hear(message)).catch(() => {}); // told above
    else void this.#send(unreadable).catch(() => {}); // the client has left: nobody waits for an answer
  }

  /** The next one is made when this one is taken: a client that reads slowly makes the model wait. */
  async #send(text: string): Promise<void> {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN) throw new RuntimeError("closed", "The client has left");
    await new Promise<void>((resolve, reject) => socket.send(text, (error) => (error ? reject(error) : resolve())));
  }
}

const problem = { code: -32700, message: "The message is no JSON object, or is nested too deeply" };
const unreadable = JSON.stringify({ jsonrpc: "2.0", id: null, error: problem });

/** The protocol knows no lists of requests. */
function toMessage(text: string): JsonObject | undefined {
  try {
    const value = parseBoundedJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
