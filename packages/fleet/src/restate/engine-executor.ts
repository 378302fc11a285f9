import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import type { JsonObject, JsonValue } from "@outrider/runtime";
import type { Question } from "../batch/batch-folder.ts";
import type { Executor } from "../batch/executor.ts";
import { RunSuspended } from "../durable/durable.ts";
import { isSpent, noLimits, type SharedLimits } from "../limits/shared-limits.ts";
import { type MovedResult, type MovingTask, movingTaskName } from "../moving/task-worker.ts";
import { runIdOf, type TaskRunInput } from "../run/task-run.ts";
import type { ObjectStore } from "../stores/object-store.ts";
import { readRun } from "../stores/saved-run.ts";
import { AskedQuestions } from "./asked-questions.ts";
import { fleetKey, openKeeper } from "./governor-object.ts";
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
  /** Whose runs they are. */
  readonly tenant?: string | undefined;
  readonly onQuestion: (question: Question) => void;
  readonly warn: (line: string) => void;
};

/** Units are run by the workers of an engine; journals, trajectories and patches are fetched when they have ended. */
export async function openEngineExecutor(options: EngineExecutorOptions): Promise<Executor> {
  const { ingress, admin, service = defaultService, store, folder, batch, bare, limits, tenant, warn } = options;
  const leaving = new AbortController();
  const backend = createRestateBackend({ ingress, admin, service, tenant, signal: leaving.signal, onAway: warn });
  const api = new RestateApi({ ingress, admin });
  const own = openKeeper(api, service, batch);
  const fleet = openKeeper(api, service, fleetKey);
  const isLimited = limits.maxBudgetUsd !== undefined || limits.rates !== undefined;
  if (isLimited) await own.limit(limits);
  const idOf = (input: TaskRunInput): string => `${batch}/${runIdOf(input)}`;
  const asking = new AskedQuestions({ ...options, service, api });
  const run = { name: movingTaskName, run: async (): Promise<JsonValue> => null }; // it is the workers who have it
  return {
    async run(input) {
      const task: MovingTask = { batch, input, bare, needsPrice: limits.maxBudgetUsd !== undefined, isLimited };
      const stopAsking = input.unit.task.approvals ? asking.follow(idOf(input), input.unit.id) : undefined;
      try {
        const moved = (await backend.run(run, idOf(input), task as unknown as JsonObject)) as unknown as MovedResult; // what workers answer
        await fetchFiles(store, { runId: idOf(input), folder, kept: moved.kept });
        return moved.result;
      } catch (error) {
        if (leaving.signal.aborted) throw new RunSuspended(idOf(input));
        throw error;
      } finally {
        stopAsking?.();
      }
    },
    async spent() {
      const [mine, all] = [isLimited ? await own.show() : noLimits, await fleet.show()];
      return { usd: mine.spentUsd, isOver: isSpent(mine) || isSpent(all) };
    },
    cancel: (input) => backend.cancel(idOf(input)),
    async close() {
      leaving.abort();
      await backend.close();
    },
  };
}

type Fetch = { readonly runId: string; readonly folder: string; readonly kept: string };

/** What the run has left: journal, trajectory and patch, in the folders of those kinds. */
async function fetchFiles(store: ObjectStore, { runId, folder, kept }: Fetch): Promise<void> {
  const { contents } = await readRun(store, runId, kept);
  for (const [name, bytes] of contents) {
    if (!/^(?:journals|trajectories|patches)\//.test(name)) continue;
    const path = join(folder, ...name.split("/"));
    if (!existsSync(dirname(path))) makeFolder(dirname(path), 0o777);
    const fresh = `${path}.${randomUUID()}.tmp`;
    await writeFile(fresh, bytes, { mode: 0o600 });
    await rename(fresh, path);
  }
}
