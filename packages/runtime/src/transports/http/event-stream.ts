import type { ServerResponse } from "node:http";
import type { RuntimeError } from "../../protocol/errors.ts";
import { toSafeJson } from "../../util/jsonl.ts";
import type { ToldBatch, ToldEvent } from "./session-channel.ts";

export type EventStreamOptions = {
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly heartbeatMs: number;
  /** A reader for whom more than this waits is dropped; it returns with the id of the last event it got. */
  readonly maxBufferedBytes: number;
};

/**
 * Server-sent events. All that happens in one tick is one write.
 */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #left = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #pending = "";
  #flushing: NodeJS.Immediate | undefined;
  #drained: Promise<void> | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const { response, headers, heartbeatMs } = options;
    response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    response.write(": connected\n\n");
    response.once("close", () => this.#leave());
    response.on("error", () => this.#leave());
    if (response.destroyed) this.#leave();
    this.#heartbeat = setInterval(() => this.#write(": here\n\n"), heartbeatMs);
    this.#heartbeat.unref();
    if (this.left.aborted) clearInterval(this.#heartbeat);
  }

  /** The reader is gone, by itself or because it was too slow. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** An event of the session. Resolves when there is room for more, where there is none now. */
  tell(told: ToldEvent): Promise<void> | undefined {
    this.#write(told.frame);
    return this.#room();
  }

  /** All of one moment, in bytes that others are told, too. */
  tellAll({ bytes }: ToldBatch): void {
    this.#flush();
    const { response, maxBufferedBytes } = this.#options;
    if (this.left.aborted) return;
    if (response.writableLength > maxBufferedBytes) return void response.destroy();
    response.write(bytes);
  }

  /** What no session has stored. */
  say(frame: object): void {
    this.#write(`data: ${toSafeJson(frame)}\n\n`);
  }

  end(reason?: RuntimeError): void {
    if (this.left.aborted) return;
    if (reason) {
      const { code, message, retryable } = reason;
      this.say({ type: "stream.ended", error: { code, message, retryable } });
    }
    this.#flush();
    this.#options.response.end();
    this.#leave();
  }

  #write(text: string): void {
    if (this.left.aborted) return;
    const { response, maxBufferedBytes } = this.#options;
    // What is there already is too much, not what comes: one long event is no fault of the reader.
    if (response.writableLength > maxBufferedBytes) return void response.destroy();
    this.#pending += text;
    if (response.writableLength + this.#pending.length > maxBufferedBytes) return this.#flush();
    this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text !== "" && !this.left.aborted) this.#options.response.write(text);
  }

  /** Half of what is allowed is a good time to wait. */
  #room(): Promise<void> | undefined {
    const { response, maxBufferedBytes } = this.#options;
    if (response.writableLength + this.#pending.length < maxBufferedBytes / 2) return undefined;
    this.#flush();
    if (!response.writableNeedDrain || this.left.aborted) return undefined;
    this.#drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        this.#drained = undefined;
        response.off("drain", done);
        this.left.removeEventListener("abort", done);
        resolve();
      };
      response.once("drain", done);
      this.left.addEventListener("abort", done, { once: true });
    });
    return this.#drained;
  }

  #leave(): void {
    if (this.left.aborted) return;
    clearInterval(this.#heartbeat);
    if (this.#flushing) clearImmediate(this.#flushing);
    this.#pending = "";
    this.#left.abort();
  }
}
