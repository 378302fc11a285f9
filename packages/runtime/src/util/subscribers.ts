import { callListener, warnOfListener } from "./call-listener.ts";

/** Those who listen to one thing. One that throws is warned of once, and nobody else is hurt by it. */
export class Subscribers<Event> {
  readonly #name: string;
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #warned = new WeakSet<(event: Event) => void>();

  /** `name` is what warnings call it. */
  constructor(name: string) {
    this.#name = name;
  }

  /** The answered function ends it. */
  add(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(event: Event): void {
    for (const listener of [...this.#listeners])
      callListener(
        () => listener(event),
        (error) => {
          if (!this.#warned.has(listener)) warnOfListener(this.#name, error);
          this.#warned.add(listener);
        },
      );
  }
}
