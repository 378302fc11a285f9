import type { Surroundings } from "@outrider/runtime/host";
import { createSharedGovernor } from "../limits/shared-governor.ts";
import { createMovingTaskRun } from "../moving/task-worker.ts";
import { governorName } from "../restate/governor-object.ts";
import { RestateApi, type RestateAddress } from "../restate/restate-api.ts";
import { defaultService, openRestateWorker, type RestateWorker } from "../restate/restate-worker.ts";
import { openStore } from "../stores/open-store.ts";

/** One process that works for an engine. JSON. */
export type ServeSettings = RestateAddress & {
  readonly service?: string | undefined;
  /** The address of the store that all workers share. */
  readonly store: string;
  /** The same path on every machine. */
  readonly folder: string;
  readonly host: string;
  readonly port: number;
};

/** Serves tasks to the engine, with the limits that the engine keeps for all workers. */
export async function serveTasks(
  settings: ServeSettings,
  around: Surroundings,
  warn: (line: string) => void,
): Promise<RestateWorker> {
  const { ingress, admin, service = defaultService, folder, host, port } = settings;
  const api = new RestateApi({ ingress, admin });
  const store = await openStore(settings.store, around.env);
  const run = createMovingTaskRun({
    store,
    folder,
    around,
    warn,
    governorOf: (batch) =>
      createSharedGovernor((handler, body) => api.call(governorName(service), batch, handler, { ...body }), warn),
  });
  return await openRestateWorker({ runs: [run], service, host, port, onProblem: warn });
}
