import { type ClientOptions, WebSocket } from "ws";
import type { Ground, Json } from "./ground.ts";

type Closed = { readonly code: number; readonly reason: string };

/** A client of the `ws` package that keeps what it is told. */
export class Socket {
  readonly told: Json[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<Closed>;
  #changed: () => void = () => {};
  #isOver = false;

  constructor(ground: Ground, { token = ground.owner, protocols = [], ...options }: SocketOptions = {}) {
    const headers = { ...(token !== null && { authorization: `Bearer ${token}` }), ...options.headers };
    this.socket = new WebSocket(`${ground.url.replace("http", "ws")}/v1/ws`, protocols, { ...options, headers });
    this.socket.on("message", (data) => {
      this.told.push(JSON.parse(String(data)));
      this.#changed();
    });
    this.closed = new Promise((resolve) =>
      this.socket.on("close", (code, reason) => {
        this.#isOver = true;
        this.#changed();
        resolve({ code, reason: String(reason) });
      }),
    );
    this.socket.on("error", () => {});
  }

  say(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  async until(check: (message: Json) => boolean): Promise<Json> {
    for (;;) {
      const found = this.told.find(check);
      if (found) return found;
      if (this.#isOver) throw new Error(`Closed before: ${JSON.stringify(this.told.map(({ type }) => type))}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async untilType(type: string): Promise<Json> {
    return await this.until((message) => message.type === type);
  }

  async ask(message: object, id: string): Promise<Json> {
    this.say({ ...message, id });
    return await this.until((told) => told.id === id);
  }
}

export type SocketOptions = ClientOptions & { readonly token?: string | null; readonly protocols?: string[] };

/** What an upgrade is answered with: 101, or the status of the refusal. */
export async function upgradeStatus(ground: Ground, options: SocketOptions): Promise<number> {
  const { socket } = new Socket(ground, options);
  return await new Promise((resolve) => {
    socket.on("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0));
  });
}
