import type { Surroundings } from "@outrider/runtime/host";
import { createSharedGovernor, FleetLimits } from "../limits/shared-governor.ts";
import { createMovingTaskRun } from "../moving/task-worker.ts";
import { fleetKey, openKeeper } from "../restate/governor-object.ts";
import { RestateApi, type RestateAddress } from "../restate/restate-api.ts";
import { defaultService, openRestateWorker, type RestateWorker } from "../restate/restate-worker.ts";
import { openStore } from "../stores/open-store.ts";
import type { RunDesk } from "./run-desk.ts";

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
  { desk, warn }: { readonly desk: RunDesk; readonly warn: (line: string) => void },
): Promise<RestateWorker> {
  const { ingress, admin, service = defaultService, folder, host, port } = settings;
  const api = new RestateApi({ ingress, admin }, undefined, warn);
  const store = await openStore(settings.store, around.env);
  const fleet = new FleetLimits(openKeeper(api, service, fleetKey));
  const run = createMovingTaskRun({
    store,
    folder,
    around,
    warn,
    onEvent: (runId, event) => desk.hear(runId, event),
    governorOf: ({ name, isLimited }) =>
      createSharedGovernor({ fleet, batch: isLimited ? openKeeper(api, service, name) : undefined, warn }),
  });
  return await openRestateWorker({ runs: [desk.follow(run)], service, host, port, onProblem: warn });
}
