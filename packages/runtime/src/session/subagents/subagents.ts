import type { KnownModels } from "../../tasks/choose-model.ts";
import type { CompactionSettings } from "../../context/compaction-limits.ts";
import type { Budget } from "../../model/budget.ts";
import type { SessionDeps, TurnDeps } from "../../engine/deps.ts";
import { TurnAborted } from "../../engine/turn-aborted.ts";
import type { ModelRef } from "../../protocol/content.ts";
import type { AgentEvent, Emit, EventBody } from "../../protocol/events.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import type { AgentTasks, StartedTask, TaskEnd, Tasks, TaskSpec } from "../../tasks/task.ts";
import type { BackgroundTaskRunnerEvent } from "../../tasks/background/task-contract.ts";
import type { SubagentRunner } from "../../tasks/subagents/subagent-contract.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { AgentInboxes } from "./background-agents.ts";
import type { SecondRootSetting } from "../files/second-root.ts";
import type { HookSettings } from "../../engine/open-hooks.ts";
import type { SessionOptions } from "../session-options.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import type { SharedBudget } from "./shared-budget.ts";

export type SubagentOptions = {
  /** What work in another folder needs. */
  readonly secondRoot: SecondRootSetting;
  /** Where commands run, as the model is told it. */
  readonly sandbox: () => string | undefined;
  /** The instruction files of the user and of the project. */
  readonly instructions: string | undefined;
  /** What settings say of hooks, for those of an agent. */
  readonly hookSettings: HookSettings | undefined;
  /** Starts servers of an agent's own; absent where nobody can. */
  readonly openServers: SessionOptions["openServers"];
  /** The session's, of which an agent may be given some. */
  readonly skills: SessionSkills;
  readonly compaction: () => Partial<CompactionSettings>;
  readonly contextWindowOf: (model: ModelRef) => Promise<number>;
  /** What is known about the provider's models, as far as a wish for one needs it. */
  readonly knownModels: (provider: string, wanted: string | undefined) => Promise<KnownModels>;
  /** Of agents that are given none. */
  readonly usualModel: string | undefined;
  readonly allowUnknownPrice: boolean;
  /** Does the work in the place of this process; absent where this one does. */
  readonly runner?: (() => SubagentRunner) | undefined;
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** What subagents share with the turn that starts them. */
export type TurnPlace = Pick<TurnDeps, "signal" | "flush" | "congestion" | "interrupt" | "keeper"> & {
  readonly deps: SessionDeps;
  /** Tells what the subagent with this id does. */
  readonly emitFrom: (taskId: string) => Emit;
  /** What is kept of changes that are made when the turn may be over. */
  readonly besideKeeper: () => TurnDeps["keeper"];
  /** All agents by name, for one that is to go on. */
  readonly agents: readonly AgentDefinition[];
  /** What the session's record says up to now. */
  readonly readEvents: () => Promise<readonly AgentEvent[]>;
  readonly registry: () => Promise<TaskRegistry>;
};

/** What a subagent has that nobody waits for. */
export type Beside = {
  readonly outputFile: string | undefined;
  /** It is on record that it begins. */
  began(): void;
  /** What it does, as it is told. */
  hear(event: EventBody): void;
  /** What it was told since it was last asked for. */
  takeInput(): readonly Omit<EventBody<"input.added">, "type">[];
  /** It hears nothing more: whoever tells it something from now on has it go on after its end. */
  endInput(): void;
  /** Calls back when there is something to take. */
  onInput(listener: () => void): void;
  /** What a runner of the program tells of it. */
  pass(event: BackgroundTaskRunnerEvent): void;
  interrupt(): void;
};

export type SubagentRun = {
  readonly taskId: string;
  readonly spec: TaskSpec;
  readonly place: TurnPlace;
  readonly signal: AbortSignal;
  readonly shared: SharedBudget | undefined;
  readonly runId: string;
  /** What it did before, when it goes on. */
  readonly past?: readonly AgentEvent[] | undefined;
  readonly beside?: Beside | undefined;
};

/** What a run of a subagent needs beside its place. */
export type RunSpec = Pick<SubagentRun, "taskId" | "spec" | "past" | "beside"> & {
  readonly runId?: string | undefined;
};

/** Binds tasks to the engine: each one is a turn of its own, beside the conversation. Loads its work only when there is some. */
export class Subagents {
  readonly #options: SubagentOptions;
  readonly #running = new Map<string, AbortController>();
  #inboxes: AgentInboxes | undefined;
  #shared: { readonly budget: Budget; readonly between: Promise<SharedBudget> } | undefined;

  constructor(options: SubagentOptions) {
    this.#options = options;
  }

  /** For one turn of the session; its end is theirs too. */
  inTurn(place: TurnPlace): Tasks {
    return {
      start: (spec) => this.start({ taskId: place.deps.newId(), spec }, place),
      agents: () => this.#agents(place),
    };
  }

  /** One that somebody waits for. */
  start(run: RunSpec, place: TurnPlace): StartedTask {
    return { taskId: run.taskId, ended: this.#run(run, place) };
  }

  /** Whether its work is in the session's record, so that it can go on from there. */
  get areOnRecord(): boolean {
    return this.#options.runner === undefined;
  }

  isRunning(taskId: string): boolean {
    return this.#running.has(taskId);
  }

  /** Ends one subagent; the turn that waits for it goes on. False when no such one runs. */
  stop(taskId: string): boolean {
    const controller = this.#running.get(taskId);
    controller?.abort(new TurnAborted("abort"));
    return controller !== undefined;
  }

  async #run(run: RunSpec, place: TurnPlace): Promise<TaskEnd> {
    const { taskId } = run;
    const controller = new AbortController();
    this.#running.set(taskId, controller);
    try {
      return await this.runTo(AbortSignal.any([place.signal, controller.signal]), run, place);
    } finally {
      this.#running.delete(taskId);
    }
  }

  /** To its end, or until it is aborted. */
  async runTo(signal: AbortSignal, run: RunSpec, place: TurnPlace): Promise<TaskEnd> {
    const [{ runAgent }, shared] = await Promise.all([
      import("./run-agent.ts"),
      this.#between(place.deps.provider.ledger.budget),
    ]);
    return await runAgent({ ...run, place, signal, shared }, this.#options);
  }

  async #agents(place: TurnPlace): Promise<AgentTasks> {
    const { AgentInboxes, BackgroundAgents } = await import("./background-agents.ts");
    this.#inboxes ??= new AgentInboxes();
    return new BackgroundAgents({ subagents: this, place, inboxes: this.#inboxes, registry: await place.registry() });
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
