import type { JsonValue } from "@outrider/runtime";
import { type DurableContext, RunSuspended } from "../durable/durable.ts";
import type { MovingPlace } from "./moving-place.ts";

export type Moving = {
  readonly place: MovingPlace;
  /** This machine's folder: what a step answers names it by a word that holds on every machine. */
  readonly folder: string;
  /** Told when the work of a step begins. */
  readonly onStep: () => void;
};

export interface MovingContext extends DurableContext {
  /** The name under which the last step that has a result has kept everything. */
  kept(): string | undefined;
  /** For what is read between steps: the folders are here as that step left them. */
  bring(): Promise<void>;
}

/**
 * The same context, for runs whose work is in folders: before a step is done here the folders are brought to where the last step left them, and
 * after it they are kept.
 */
export function movingContext(context: DurableContext, { place, folder, onStep }: Moving): MovingContext {
  let at: string | undefined;
  let steps = 0;
  const quoted = JSON.stringify(folder).slice(1, -1);
  return {
    runId: context.runId,
    get signal() {
      return context.signal;
    },
    async step<T extends JsonValue>(...[name, work, options]: Parameters<typeof context.step<T>>): Promise<T> {
      const number = ++steps;
      const before = at;
      const kept = await context.step(
        name,
        async (attempt) => {
          await orLater(place.bring(before, number), context.runId);
          onStep();
          const value = (await work(attempt)) ?? null;
          const key = await orLater(place.save(), context.runId);
          return { value: JSON.stringify(value).replaceAll(quoted, word), ...(key !== undefined && { key }) };
        },
        options,
      );
      at = kept.key;
      return JSON.parse(kept.value.replaceAll(word, quoted)) as T; // what `work` answered
    },
    sleep: (name, ms) => context.sleep(name, ms),
    approval: (name, asks) => context.approval(name, asks),
    child: (name, run, input) => context.child(name, run, input),
    kept: () => at,
    bring: () => place.bring(at, steps + 1),
  };
}

/** A store that fails is no failure of the run: the engine tries the step again, here or elsewhere. */
async function orLater<T>(work: Promise<T>, runId: string): Promise<T> {
  return await work.catch((error: unknown) => {
    throw Object.assign(new RunSuspended(runId), { cause: error });
  });
}

const word = "{{OUTRIDER-WORKER}}";
