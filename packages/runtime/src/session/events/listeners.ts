import type { Emit } from "../../protocol/events.ts";
import { callListener, warnOfListener } from "../../util/call-listener.ts";

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
    this.#call(name, args, () => {});
  }

  /** The same where a listener is to answer: `lost` is called with the last error when all of them have thrown. */
  ask<N extends keyof Events>(name: N, args: Parameters<Events[N]>, lost: (error: unknown) => void): void {
    let left = this.#listeners.get(name)?.size ?? 0;
    this.#call(name, args, (error) => --left === 0 && lost(error));
  }

  #call(name: keyof Events, args: readonly unknown[], onFailure: (error: unknown) => void): void {
    const listeners = this.#listeners.get(name);
    if (!listeners) return;
    for (const listener of listeners) {
      const failed = (error: unknown): void => {
        onFailure(error);
        if (this.#reported.has(listener)) return;
        this.#reported.add(listener);
        this.#report(name, error);
      };
      callListener(() => listener(...(args as never[])), failed); // `add` has tied this name to listeners of these arguments
    }
  }
}

/** The program's own bug: told where its author looks, and in the journal. */
export function reportListener(name: string, error: unknown, emit: (event: Parameters<Emit>[0]) => unknown): void {
  const message = warnOfListener(name, error);
  queueMicrotask(() => emit({ type: "warning.raised", message }));
}
