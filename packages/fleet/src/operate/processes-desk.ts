import type { AgentEvent } from "@outrider/runtime";
import { type Counts, type Desk, type Listener, noCounts, sumOf } from "./run-desk.ts";

/** What a worker process tells of its own desk, and what it is asked. */
export type FromDesk =
  | { readonly type: "counts"; readonly counts: Counts }
  | { readonly type: "moved"; readonly runId: string; readonly isHere: boolean }
  | { readonly type: "event"; readonly runId: string; readonly event: AgentEvent };
export type ToDesk = { readonly type: "watch" | "unwatch"; readonly runId: string };

type Seen = { counts: Counts; readonly runs: Set<string>; readonly ask: (message: ToDesk) => void };
type Watched = { readonly listener: Listener; readonly onEnd: () => void };

/** The desk of several worker processes, in the process that has them. */
export class ProcessesDesk implements Desk {
  readonly #processes = new Map<number, Seen>();
  readonly #watched = new Map<string, Set<Watched>>();
  /** What processes had done that are no more. */
  #gone: Counts = noCounts;

  counts(): Counts {
    return sumOf([this.#gone, ...[...this.#processes.values()].map(({ counts }) => counts)]);
  }

  running(): number {
    return [...this.#processes.values()].reduce((sum, { runs }) => sum + runs.size, 0);
  }

  watch(runId: string, listener: Listener, onEnd: () => void): (() => void) | undefined {
    const seen = [...this.#processes.values()].find(({ runs }) => runs.has(runId));
    if (!seen) return undefined;
    const watched = this.#watched.get(runId) ?? new Set();
    this.#watched.set(runId, watched);
    const one = { listener, onEnd };
    watched.add(one);
    seen.ask({ type: "watch", runId });
    return () => {
      watched.delete(one);
      if (watched.size > 0) return;
      this.#watched.delete(runId);
      seen.ask({ type: "unwatch", runId });
    };
  }

  open(id: number, ask: Seen["ask"]): void {
    this.#processes.set(id, { counts: noCounts, runs: new Set(), ask });
  }

  hear(id: number, message: FromDesk): void {
    const seen = this.#processes.get(id);
    if (!seen) return;
    switch (message.type) {
      case "counts":
        seen.counts = message.counts;
        return;
      case "event":
        for (const { listener } of this.#watched.get(message.runId) ?? []) listener(message.event);
        return;
      case "moved":
        if (message.isHere) return void seen.runs.add(message.runId);
        seen.runs.delete(message.runId);
        return this.#end(message.runId);
    }
  }

  close(id: number): void {
    const seen = this.#processes.get(id);
    if (!seen) return;
    this.#processes.delete(id);
    this.#gone = sumOf([this.#gone, seen.counts]);
    for (const runId of seen.runs) this.#end(runId);
  }

  #end(runId: string): void {
    const watched = [...(this.#watched.get(runId) ?? [])];
    this.#watched.delete(runId);
    for (const { onEnd } of watched) onEnd();
  }
}
