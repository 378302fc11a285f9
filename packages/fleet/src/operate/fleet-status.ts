import { RuntimeError } from "@outrider/runtime";
import type { SharedLimits } from "../limits/shared-limits.ts";
import { fleetKey, openKeeper } from "../restate/governor-object.ts";
import { type DeploymentRow, quoted, RestateApi, type RestateAddress } from "../restate/restate-api.ts";
import { defaultService } from "../restate/restate-worker.ts";

export type FleetStatus = {
  readonly isHealthy: boolean;
  /** How many, by the engine's word for how they stand. */
  readonly runs: Readonly<Record<string, number>>;
  readonly waiting: number;
  /** Workers, with the runs that are theirs until they end. */
  readonly deployments: readonly DeploymentRow[];
  /** Those of all batches together. Absent while no worker has told the engine of them. */
  readonly limits?: SharedLimits | undefined;
};

/** Runs of a service by how they stand, and how deep the queue is. */
export async function fleetStatus(address: RestateAddress, service: string = defaultService): Promise<FleetStatus> {
  const api = new RestateApi(address, 2_000);
  const rows = await api.query(
    `select status, count(*) as runs from sys_invocation where target_service_name = ${quoted(service)} and target_handler_name = 'run' group by status`,
  );
  const runs = Object.fromEntries(rows.map(({ status, runs: count }) => [String(status), Number(count)]));
  const waiting = ["pending", "ready", "scheduled", "backing-off", "suspended"].reduce((sum, name) => sum + (runs[name] ?? 0), 0);
  const deployments = await api.deployments();
  const limits =
    deployments.length > 0
      ? await openKeeper(api, service, fleetKey)
          .show()
          .catch(() => undefined)
      : undefined;
  return { isHealthy: await api.isHealthy(), runs, waiting, deployments, ...(limits && { limits }) };
}

/** The engine forgets the workers at an address. Refused while runs are theirs. */
export async function retireWorkers(address: RestateAddress, endpoint: string): Promise<void> {
  const api = new RestateApi(address, 2_000);
  const same = (one: string): string => one.replace(/\/+$/, "");
  const found = (await api.deployments()).find((one) => same(one.endpoint) === same(endpoint));
  if (!found)
    throw new RuntimeError("not-found", `The engine knows no workers at ${endpoint}`, {
      hint: "outrider fleet status lists them",
    });
  if (found.runs > 0)
    throw new RuntimeError("busy", `${found.runs} runs that began at ${endpoint} have not ended`, {
      hint: "Keep those workers up until outrider fleet status shows none, or cancel the runs",
    });
  await api.forget(found.id);
}
