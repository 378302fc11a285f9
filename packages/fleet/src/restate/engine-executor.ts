import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "@outrider/runtime";
import type { Executor } from "../batch/executor.ts";
import { RunSuspended } from "../durable/durable.ts";
import type { SharedLimits } from "../limits/shared-governor.ts";
import { type MovedResult, type MovingTask, movingTaskName } from "../moving/task-worker.ts";
import { runIdOf, type TaskRunInput } from "../run/task-run.ts";
import type { ObjectStore } from "../stores/object-store.ts";
import { restoreRun } from "../stores/saved-run.ts";
import { safeName } from "../util/safe-name.ts";
import { governorName } from "./governor-object.ts";
import { createRestateBackend } from "./restate-backend.ts";
import { RestateApi, type RestateAddress } from "./restate-api.ts";
import { defaultService } from "./restate-worker.ts";

export type EngineExecutorOptions = RestateAddress & {
  readonly service?: string | undefined;
  readonly store: ObjectStore;
  /** Of the batch: results come here. */
  readonly folder: string;
  /** Names the batch in the engine; the same when it is resumed. */
  readonly batch: string;
  readonly bare: boolean;
  readonly limits: Pick<SharedLimits, "maxBudgetUsd" | "rates">;
};

/** Units are run by the workers of an engine; journals, trajectories and patches are fetched when they have ended. */
export async function openEngineExecutor(options: EngineExecutorOptions): Promise<Executor> {
  const { ingress, admin, service = defaultService, store, folder, batch, bare, limits } = options;
  const leaving = new AbortController();
  const backend = createRestateBackend({ ingress, admin, service, signal: leaving.signal });
  const api = new RestateApi({ ingress, admin });
  await api.call(governorName(service), batch, "limit", JSON.parse(JSON.stringify(limits)) as JsonValue);
  const idOf = (input: TaskRunInput): string => `${batch}/${runIdOf(input)}`;
  const run = { name: movingTaskName, run: async (): Promise<JsonValue> => null }; // it is the workers who have it
  return {
    async run(input) {
      const task: MovingTask = { batch, input, bare, needsPrice: limits.maxBudgetUsd !== undefined };
      try {
        const moved = (await backend.run(run, idOf(input), task as unknown as JsonObject)) as unknown as MovedResult; // what workers answer
        await fetchFiles(store, { runId: idOf(input), name: safeName(runIdOf(input)), folder, kept: moved.kept });
        return moved.result;
      } catch (error) {
        if (leaving.signal.aborted) throw new RunSuspended(idOf(input));
        throw error;
      }
    },
    cancel: (input) => backend.cancel(idOf(input)),
    async close() {
      leaving.abort();
      await backend.close();
    },
  };
}

type Fetch = { readonly runId: string; readonly name: string; readonly folder: string; readonly kept: string };

async function fetchFiles(store: ObjectStore, { runId, name, folder, kept }: Fetch): Promise<void> {
  const fetched = join(folder, "fetched", name);
  await restoreRun(store, { runId, journalFolder: fetched, gitFolder: fetched }, kept);
  for (const kind of ["journals", "trajectories", "patches"]) {
    if (!existsSync(join(fetched, kind))) continue;
    mkdirSync(join(folder, kind), { recursive: true });
    cpSync(join(fetched, kind), join(folder, kind), { recursive: true });
  }
  rmSync(fetched, { recursive: true, force: true });
}
