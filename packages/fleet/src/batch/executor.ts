import { createFileStore, type JsonValue, SessionHost } from "@outrider/runtime";
import { loadCallPrice } from "@outrider/runtime/atif";
import { loadCatalogOverride, modelKeys, type Surroundings } from "@outrider/runtime/host";
import { join } from "node:path";
import { createLocalBackend } from "../durable/local-backend.ts";
import type { Governor } from "../limits/governor.ts";
import type { Prices } from "../limits/governed-provider.ts";
import type { TaskResult } from "../run/task-result.ts";
import { createTaskRun, runIdOf, type TaskRunGround, type TaskRunInput } from "../run/task-run.ts";
import { Workspaces } from "../run/workspaces.ts";
import type { Question } from "./batch-folder.ts";

/** What holds for all runs of a batch, in whichever process they run. JSON. */
export type RunSettings = {
  readonly folder: string;
  readonly bare: boolean;
  readonly needsPrice: boolean;
  readonly keepsWorkspaces: boolean;
};

/** Runs units. `run` rejects with `RunSuspended` where the run is to go on later. */
export interface Executor {
  run(input: TaskRunInput): Promise<TaskResult>;
  cancel(input: TaskRunInput): Promise<void>;
  /** What was spent, where others count it. `isOver`: no request is begun any more. */
  spent?(): Promise<{ readonly usd: number; readonly isOver: boolean }>;
  /** Stops what runs; it goes on when somebody opens the batch again. */
  close(): Promise<void>;
}

export type ExecutorGround = {
  readonly settings: RunSettings;
  readonly around: Surroundings;
  readonly governor: Governor;
  readonly warn: (line: string) => void;
  readonly onQuestion: (question: Question) => void;
};

/** Runs in this process, durable on disk: `runs/` holds the steps, `journals/` the conversations. */
export async function openExecutor({ settings, around, governor, warn, onQuestion }: ExecutorGround): Promise<Executor> {
  const { folder, bare, needsPrice, keepsWorkspaces } = settings;
  const prices = await loadPrices(around, bare);
  const store = createFileStore(join(folder, "journals"));
  const host = new SessionHost({
    around,
    warn,
    maxSessions: 100_000,
    defaults: { persistent: false, bare, options: { sessionStore: store } },
  });
  const env = withoutKeys(around.env);
  const ground: TaskRunGround = {
    host,
    store,
    workspaces: new Workspaces(folder, env),
    governing: { governor, ...prices, needsPrice },
    folder,
    env,
    keepsWorkspaces,
    onQuestion: (id, name, { tool, reason }) => onQuestion({ id, name, tool, reason }),
  };
  const run = createTaskRun(ground);
  const backend = createLocalBackend({ folder: join(folder, "runs") });
  return {
    run: async (input) => (await backend.run(run, runIdOf(input), input as unknown as JsonValue)) as TaskResult, // what the run answers
    cancel: (input) => backend.cancel(runIdOf(input)),
    async close() {
      await backend.close();
      await host.shutdown();
    },
  };
}

export async function loadPrices(around: Surroundings, bare: boolean): Promise<Prices> {
  const catalogOverride = bare ? undefined : await loadCatalogOverride(around.outriderHome);
  return { priceOf: await loadCallPrice(catalogOverride), catalogOverride };
}

export function withoutKeys(env: Surroundings["env"]): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !modelKeys.includes(name));
  return Object.fromEntries(kept) as Record<string, string>; // undefined ones are gone
}
