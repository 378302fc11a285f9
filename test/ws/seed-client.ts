import WebSocket from "ws";

type Received = { readonly type: string; readonly [field: string]: unknown };

/** A client as somebody writes it who has read the seed and nothing else: it knows no type, number or name that is not in there. */
export class SeedClient {
  readonly #socket: WebSocket;
  readonly received: Received[] = [];
  readonly #waiting = new Set<() => void>();
  #taken = 0;
  readonly closed: Promise<number>;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.on("message", (data) => {
      this.received.push(JSON.parse(String(data)) as Received); // what the server sends
      for (const look of this.#waiting) look();
    });
    this.closed = new Promise((resolve) => this.#socket.on("close", resolve));
  }

  async opened(): Promise<this> {
    if (this.#socket.readyState !== WebSocket.OPEN) await new Promise((resolve) => this.#socket.once("open", resolve));
    return this;
  }

  say(message: unknown): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The next message of one of these types; those in between are passed over. */
  async next(...types: readonly string[]): Promise<Received> {
    for (;;) {
      const at = this.received.findIndex(({ type }, index) => index >= this.#taken && types.includes(type));
      const found = this.received[at];
      if (found) {
        this.#taken = at + 1;
        return found;
      }
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
  }

  async ask(message: object, ...answers: readonly string[]): Promise<Received> {
    this.say(message);
    return await this.next(...answers);
  }

  /** The answer, as a person reads it: pieces until the turn is over. */
  async converse(prompt: string): Promise<string> {
    const from = this.received.length;
    this.say({ type: "submit", prompt });
    await this.next("complete", "interrupted", "error");
    const deltas = this.received.slice(from).filter(({ type }) => type === "text_delta");
    return deltas.map(({ delta }) => delta).join("");
  }

  async leave(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  /** Without a word. */
  vanish(): void {
    this.#socket.terminate();
  }
}
