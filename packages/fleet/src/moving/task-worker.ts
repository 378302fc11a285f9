import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createFileStore, type JsonObject, type JsonValue, SessionHost } from "@outrider/runtime";
import type { Surroundings } from "@outrider/runtime/host";
import { loadPrices, withoutKeys } from "../batch/executor.ts";
import type { DurableRun } from "../durable/durable.ts";
import type { Governor } from "../limits/governor.ts";
import { createTaskRun, runIdOf, type TaskRunInput } from "../run/task-run.ts";
import type { TaskResult } from "../run/task-result.ts";
import { Workspaces } from "../run/workspaces.ts";
import type { ObjectStore } from "../stores/object-store.ts";
import { safeName } from "../util/safe-name.ts";
import { movingContext } from "./moving-context.ts";
import { MovingPlace } from "./moving-place.ts";
import { StepGate, watchStore } from "./step-gate.ts";

/** A task as an engine is given it. JSON. */
export type MovingTask = {
  readonly batch: string;
  readonly input: TaskRunInput;
  readonly bare: boolean;
  readonly needsPrice: boolean;
  /** The batch has a budget or rates of its own. */
  readonly isLimited: boolean;
};

/** What it ends with: the result, and where the journal, the trajectory and the patch are in the store. */
export type MovedResult = { readonly result: TaskResult; readonly kept: string };

export type TaskWorkerGround = {
  readonly store: ObjectStore;
  /** Of this worker. Conversations name files in it: all workers of a fleet have it at the same path. */
  readonly folder: string;
  readonly around: Surroundings;
  readonly governorOf: (batch: { readonly name: string; readonly isLimited: boolean }) => Governor;
  /** Hears everything of every run, by its id in the engine. */
  readonly onEvent?: ((runId: string, event: AgentEvent) => void) | undefined;
  readonly warn: (line: string) => void;
};

export const movingTaskName = "outrider-moving-task";

/** The run of tasks whose folders follow them from worker to worker. */
export function createMovingTaskRun(ground: TaskWorkerGround): DurableRun {
  /** A run that the engine calls again here waits until the call before it has let go of its folders. */
  const busy = new Map<string, Promise<unknown>>();
  return {
    name: movingTaskName,
    async run(context, input) {
      const before = busy.get(context.runId);
      const own = (async () => {
        await before?.catch(() => {});
        return await runHere(ground, context, input as unknown as MovingTask); // what `openEngineExecutor` sent
      })();
      busy.set(context.runId, own);
      try {
        return (await own) as unknown as JsonObject; // results are JSON
      } finally {
        if (busy.get(context.runId) === own) busy.delete(context.runId);
      }
    },
  };
}

async function runHere(
  ground: TaskWorkerGround,
  context: Parameters<DurableRun["run"]>[0],
  task: MovingTask,
): Promise<MovedResult> {
  const { store, around, warn } = ground;
  const { unit } = task.input;
  const name = safeName(runIdOf(task.input));
  const folder = join(ground.folder, safeName(task.batch)); // another batch may have tasks of the same names
  const env = withoutKeys(around.env);
  const workspaces = new Workspaces(folder, env);
  const isOwn = unit.task.git !== undefined || unit.task.seed !== undefined;
  const kept = join(folder, "runs", name);
  const gitFolder = join(folder, "gits", name);
  const gate = new StepGate();
  const place = new MovingPlace({
    store,
    runId: context.runId,
    journalFolder: kept,
    gitFolder,
    ...(isOwn && { tree: join(folder, "workspaces", name), makeTree: async () => void (await workspaces.prepare(unit, name)) }),
  });
  const moving = movingContext(context, { place, folder, onStep: () => gate.open() });
  // What counts is in the shared store, which waits for its disks: the copy here is made anew wherever it is missing.
  const journals = watchStore(createFileStore(join(kept, "journals"), { sync: "never" }), {
    see: (event) => gate.see(event),
    onIntent: () => place.saveIntent(),
    beforeRead: () => moving.bring(),
  });
  const beforeCall = async (_: JsonObject, { signal }: { signal: AbortSignal }): Promise<void> => await gate.pass(signal);
  const host = new SessionHost({
    around,
    warn,
    maxSessions: 100_000,
    defaults: {
      persistent: false,
      bare: task.bare,
      options: { sessionStore: journals, hooks: { PreToolUse: [{ hooks: [{ type: "callback", callback: beforeCall }] }] } },
    },
  });
  const governor = ground.governorOf({ name: task.batch, isLimited: task.isLimited });
  const run = createTaskRun({
    host,
    store: journals,
    workspaces,
    governing: {
      ...(await loadPrices(around, task.bare)),
      needsPrice: task.needsPrice,
      governor: {
        async admit(request, signal) {
          await gate.pass(signal);
          await governor.admit(request, signal);
        },
        ended: (end, signal) => governor.ended(end, signal),
        throttled: (provider, waitMs) => governor.throttled(provider, waitMs),
      },
    },
    folder: kept,
    isCopy: true,
    env,
    keepsWorkspaces: false,
    onEvent: ground.onEvent && ((_, event) => ground.onEvent?.(context.runId, event)),
  });
  try {
    const result = (await run.run(moving, task.input as unknown as JsonValue)) as TaskResult; // what tasks answer
    // All of it is in the store.
    for (const own of isOwn ? [kept, gitFolder] : [kept]) await rm(own, { recursive: true, force: true });
    return { result, kept: moving.kept() ?? "" };
  } finally {
    await host.shutdown();
  }
}
