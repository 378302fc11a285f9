import type { Socket } from "node:net";

/** Looks in a row that find nothing taken: a machine that stands still for a moment makes one of them late, and no more. */
const looks = 10;

/** Drops a reader that takes nothing of what waits for it. How slowly it reads, and how long one message is, does not matter. */
export class StallWatch {
  readonly #stream: Socket;
  readonly #everyMs: number;
  readonly #onStall: () => void;
  #next: NodeJS.Timeout | undefined;

  constructor({ stream, stalledMs, onStall }: { stream: Socket; stalledMs: number; onStall: () => void }) {
    this.#stream = stream;
    this.#everyMs = stalledMs / looks;
    this.#onStall = onStall;
  }

  /** Something waits: looks until it is gone. */
  begin(): void {
    if (this.#next === undefined) this.#look(0, progressOf(this.#stream));
  }

  end(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
  }

  #look(idle: number, before: number): void {
    this.#next = setTimeout(() => {
      // Sockets have their turn before it counts: after a pause of the process, clocks are heard first.
      setImmediate(() => {
        if (this.#next === undefined) return;
        if (this.#stream.writableLength === 0) return this.end();
        const progress = progressOf(this.#stream);
        if (progress !== before) return this.#look(0, progress);
        if (idle + 1 < looks) return this.#look(idle + 1, progress);
        this.end();
        this.#onStall();
      });
    }, this.#everyMs);
    this.#next.unref();
  }
}

/** Is another one whenever the system has taken bytes of what waits, also of the middle of a long message. */
export function progressOf(stream: Socket): number {
  // Node tells of a write when all of it is taken; how much of it waits is known to its handle, which has no public name.
  const { _handle: handle } = stream as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return stream.bytesWritten - stream.writableLength - (handle?.writeQueueSize ?? 0);
}
