import type { Writable } from "node:stream";

export type LineOutputOptions = {
  /**
   * The file descriptor behind the stream. A reader that leaves is then noticed while nothing is written, too: a tool that works
   * silently for an hour is not to work for nobody.
   */
  readonly descriptor?: number;
  /** The last change of what is written; it is given whole lines. */
  readonly rewrite?: (lines: string) => string;
};

/** The one writer of an output stream: gathers what is written in a tick, waits for a slow reader, notices a reader that left. */
export class LineOutput {
  readonly #open: () => Writable;
  #stream: Writable | undefined;
  readonly #rewrite: (lines: string) => string;
  #gathered = "";
  #scheduled = false;
  #waiting: (() => void)[] = [];
  #inFlight = 0;
  #closed = false;
  #failure: Error | undefined;
  #onClosed: (() => void)[] = [];
  #stopWatching: () => void = () => {};
  readonly #onEnd = (error?: Error): void => this.#close(error);

  /** A function gives the stream when there is something to write: Node takes a millisecond to make those of a process. */
  constructor(stream: Writable | (() => Writable), { descriptor, rewrite = (lines) => lines }: LineOutputOptions = {}) {
    this.#open = typeof stream === "function" ? stream : () => stream;
    this.#rewrite = rewrite;
    if (typeof stream !== "function") this.#listen();
    if (descriptor !== undefined) this.#watchReader(descriptor);
  }

  /** Lets go of a stream that others go on using. One that has failed is held: its error comes after the write that met it. */
  release(): void {
    if (this.#closed) return;
    this.#stream?.off("error", this.#onEnd);
    this.#stream?.off("close", this.#onEnd);
    this.#stopWatching();
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
    if (this.#closed) listener();
    else this.#onClosed.push(listener);
  }

  write(text: string): void {
    if (this.#closed || text === "") return;
    this.#gathered += this.#rewrite(text);
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
    this.#listen().write(text, (error) => {
      this.#inFlight -= text.length;
      if (error) this.#close(error);
      else if (this.#inFlight === 0) this.#wake();
    });
  }

  #listen(): Writable {
    if (this.#stream) return this.#stream;
    const stream = this.#open();
    this.#stream = stream;
    stream.on("error", this.#onEnd);
    stream.on("close", this.#onEnd);
    return stream;
  }

  #close(error?: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    if (error && error.code !== "EPIPE") this.#failure = error;
    this.#closed = true;
    this.#stopWatching();
    this.#gathered = "";
    this.#wake();
    for (const listener of this.#onClosed.splice(0)) listener();
  }

  /** Not at once: most runs are over before anybody could leave, and need not load it. */
  #watchReader(descriptor: number): void {
    let isWanted = true;
    const watch = async (): Promise<void> => {
      const { watchReader } = await import("./reader-watch.ts");
      if (isWanted) this.#stopWatching = watchReader(descriptor, () => this.#close());
    };
    // Without a descriptor left to look with, a reader that leaves is noticed by the next write.
    const timer = setTimeout(() => void watch().catch(() => {}), watchAfterMs);
    timer.unref();
    this.#stopWatching = () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

const highWaterMark = 64 * 1024;
const watchAfterMs = 500;
