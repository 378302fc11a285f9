import type { Writable } from "node:stream";

/** The one writer of an output stream: gathers what is written in a tick, waits for a slow reader, notices a reader that left. */
export class LineOutput {
  readonly #stream: Writable;
  #gathered = "";
  #scheduled = false;
  #waiting: (() => void)[] = [];
  #inFlight = 0;
  #closed = false;
  #failure: Error | undefined;
  #onClosed: () => void = () => {};

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", (error) => this.#close(error));
    stream.on("close", () => this.#close());
  }

  /** Nobody reads any more: what is written goes nowhere. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Why nothing can be written, unless the reader simply left: a full disk must be told of. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** More is waiting than the stream wants to hold; `drain` before writing on. */
  get full(): boolean {
    return this.#gathered.length >= highWaterMark || this.#inFlight >= highWaterMark;
  }

  onClosed(listener: () => void): void {
    this.#onClosed = listener;
    if (this.#closed) listener();
  }

  write(text: string): void {
    if (this.#closed || text === "") return;
    this.#gathered += text;
    if (this.#gathered.length >= highWaterMark) return this.#send();
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#send());
  }

  /** Resolves when everything written so far is with the operating system, or the reader has left. */
  async drain(): Promise<void> {
    this.#send();
    if (this.#closed || this.#inFlight === 0) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #send(): void {
    this.#scheduled = false;
    const text = this.#gathered;
    if (text === "" || this.#closed) return;
    this.#gathered = "";
    this.#inFlight += text.length;
    this.#stream.write(text, (error) => {
      this.#inFlight -= text.length;
      if (error) this.#close(error);
      else if (this.#inFlight === 0) this.#wake();
    });
  }

  #close(error?: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    if (error && error.code !== "EPIPE") this.#failure = error;
    this.#closed = true;
    this.#gathered = "";
    this.#wake();
    this.#onClosed();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

const highWaterMark = 64 * 1024;
