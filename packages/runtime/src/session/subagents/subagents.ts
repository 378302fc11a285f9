import type { KnownModels } from "../../tasks/choose-model.ts";
import type { CompactionSettings } from "../../context/compaction-limits.ts";
import type { Budget } from "../../model/budget.ts";
import type { SessionDeps, TurnDeps } from "../../engine/deps.ts";
import { TurnAborted } from "../../engine/turn-aborted.ts";
import type { ModelRef } from "../../protocol/content.ts";
import type { Emit } from "../../protocol/events.ts";
import type { TaskEnd, Tasks, TaskSpec } from "../../tasks/task.ts";
import type { SecondRootSetting } from "../files/second-root.ts";
import type { SharedBudget } from "./shared-budget.ts";

export type SubagentOptions = {
  /** What work in another folder needs. */
  readonly secondRoot: SecondRootSetting;
  /** Where commands run, as the model is told it. */
  readonly sandbox: () => string | undefined;
  /** The instruction files of the user and of the project. */
  readonly instructions: string | undefined;
  readonly compaction: () => Partial<CompactionSettings>;
  readonly contextWindowOf: (model: ModelRef) => Promise<number>;
  /** What is known about the provider's models, as far as a wish for one needs it. */
  readonly knownModels: (provider: string, wanted: string | undefined) => Promise<KnownModels>;
  readonly allowUnknownPrice: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** What subagents share with the turn that starts them. */
export type TurnPlace = Pick<TurnDeps, "signal" | "flush" | "congestion" | "interrupt" | "keeper"> & {
  readonly deps: SessionDeps;
  /** Tells what the subagent with this id does. */
  readonly emitFrom: (taskId: string) => Emit;
};

export type SubagentRun = {
  readonly taskId: string;
  readonly spec: TaskSpec;
  readonly place: TurnPlace;
  readonly signal: AbortSignal;
  readonly shared: SharedBudget | undefined;
};

/** Binds tasks to the engine: each one is a turn of its own, beside the conversation. Loads its work only when there is some. */
export class Subagents {
  readonly #options: SubagentOptions;
  readonly #running = new Map<string, AbortController>();
  #shared: { readonly budget: Budget; readonly between: Promise<SharedBudget> } | undefined;

  constructor(options: SubagentOptions) {
    this.#options = options;
  }

  /** For one turn of the session; its end is theirs too. */
  inTurn(place: TurnPlace): Tasks {
    return {
      start: (spec) => {
        const taskId = place.deps.newId();
        return { taskId, ended: this.#run(taskId, spec, place) };
      },
    };
  }

  /** Ends one subagent; the turn that waits for it goes on. False when no such one runs. */
  stop(taskId: string): boolean {
    const controller = this.#running.get(taskId);
    controller?.abort(new TurnAborted("abort"));
    return controller !== undefined;
  }

  async #run(taskId: string, spec: TaskSpec, place: TurnPlace): Promise<TaskEnd> {
    const controller = new AbortController();
    this.#running.set(taskId, controller);
    try {
      const { runSubagent } = await import("./run-subagent.ts");
      const shared = await this.#between(place.deps.provider.ledger.budget);
      const signal = AbortSignal.any([place.signal, controller.signal]);
      return await runSubagent({ taskId, spec, place, signal, shared }, this.#options);
    } finally {
      this.#running.delete(taskId);
    }
  }

  #between(budget: Budget | undefined): Promise<SharedBudget> | undefined {
    if (!budget) return undefined;
    if (this.#shared?.budget !== budget) {
      const between = import("./shared-budget.ts").then(({ SharedBudget }) => new SharedBudget(budget));
      this.#shared = { budget, between };
    }
    return this.#shared.between;
  }
}
