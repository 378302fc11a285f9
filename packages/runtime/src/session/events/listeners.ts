import type { Emit } from "../../protocol/events.ts";

type AnyListener = (...args: never[]) => void;

/** Typed callbacks by name. A listener that throws does not keep the others, or the session, from going on: it is reported once. */
export class Listeners<Events extends { [N in keyof Events]: (...args: never[]) => void }> {
  readonly #listeners = new Map<keyof Events, Set<AnyListener>>();
  readonly #reported = new WeakSet<AnyListener>();
  readonly #report: (name: keyof Events, error: unknown) => void;

  constructor(report: (name: keyof Events, error: unknown) => void) {
    this.#report = report;
  }

  add<N extends keyof Events>(name: N, listener: Events[N]): void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
  }

  delete<N extends keyof Events>(name: N, listener: Events[N]): void {
    this.#listeners.get(name)?.delete(listener);
  }

  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  notify<N extends keyof Events>(name: N, ...args: Parameters<Events[N]>): void {
    const listeners = this.#listeners.get(name);
    if (!listeners) return;
    for (const listener of listeners) {
      const failed = (error: unknown): void => {
        if (this.#reported.has(listener)) return;
        this.#reported.add(listener);
        this.#report(name, error);
      };
      try {
        const done: unknown = listener(...(args as never[])); // `add` has tied this name to listeners of these arguments
        if (done instanceof Promise) done.catch(failed); // an async function is taken for a listener, too
      } catch (error) {
        failed(error);
      }
    }
  }
}

/** The program's own bug: told where its author looks, and in the journal. */
export function reportListener(name: string, error: unknown, emit: (event: Parameters<Emit>[0]) => unknown): void {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `A listener of "${name}" has thrown: ${reason}`;
  process.emitWarning(message, "OutriderListenerError");
  queueMicrotask(() => emit({ type: "warning.raised", message }));
}
