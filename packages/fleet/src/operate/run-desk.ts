import type { AgentEvent } from "@outrider/runtime";
import type { DurableRun } from "../durable/durable.ts";

/** What workers have done since they started. */
export type Counts = {
  readonly begun: number;
  readonly ended: number;
  /** Given back to the engine before their end. */
  readonly left: number;
  readonly answers: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

export const noCounts: Counts = { begun: 0, ended: 0, left: 0, answers: 0, calls: 0, inputTokens: 0, outputTokens: 0 };

export type Listener = (event: AgentEvent) => void;

/** What can be seen of workers from outside, beside the engine. */
export interface Desk {
  counts(): Counts;
  /** How many runs are here now. */
  running(): number;
  /** Hears a run as it goes, also the text that is being written. Undefined where the run is not here. */
  watch(runId: string, listener: Listener, onEnd: () => void): (() => void) | undefined;
}

type Watched = { readonly listener: Listener; readonly onEnd: () => void };

/** The desk of one process: told by its runs. */
export class RunDesk implements Desk {
  #counts: Counts = noCounts;
  readonly #runs = new Map<string, Set<Watched>>();
  /** Told when a run comes or goes. */
  onMove: (runId: string, isHere: boolean) => void = () => {};

  counts(): Counts {
    return this.#counts;
  }

  running(): number {
    return this.#runs.size;
  }

  watch(runId: string, listener: Listener, onEnd: () => void): (() => void) | undefined {
    const watched = this.#runs.get(runId);
    if (!watched) return undefined;
    const one = { listener, onEnd };
    watched.add(one);
    return () => void watched.delete(one);
  }

  hear(runId: string, event: AgentEvent): void {
    if (event.type === "message.ended") {
      const { inputTokens, outputTokens } = event.message.usage;
      this.#add({ answers: 1, inputTokens, outputTokens });
    }
    if (event.type === "tool.ended") this.#add({ calls: 1 });
    for (const { listener } of this.#runs.get(runId) ?? []) listener(event);
  }

  /** The same run, whose coming and going is seen here. */
  follow(run: DurableRun): DurableRun {
    return {
      name: run.name,
      run: async (context, input) => {
        const { runId } = context;
        this.#add({ begun: 1 });
        this.#runs.set(runId, this.#runs.get(runId) ?? new Set());
        this.onMove(runId, true);
        let end: "ended" | "left" = "left";
        try {
          const value = await run.run(context, input);
          end = "ended";
          return value;
        } finally {
          this.#add({ [end]: 1 });
          for (const { onEnd } of this.#runs.get(runId) ?? []) onEnd();
          this.#runs.delete(runId);
          this.onMove(runId, false);
        }
      },
    };
  }

  #add(more: Partial<Counts>): void {
    this.#counts = sumOf([this.#counts, { ...noCounts, ...more }]);
  }
}

export function sumOf(all: readonly Counts[]): Counts {
  const sum = { ...noCounts } as Record<keyof Counts, number>;
  for (const counts of all) for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
  return sum;
}
