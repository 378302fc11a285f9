import { needKnownProviders } from "../limits/known-providers.ts";
import { fleetKey, type GivenLimits, openKeeper } from "../restate/governor-object.ts";
import { RestateApi, type RestateAddress } from "../restate/restate-api.ts";
import { defaultService } from "../restate/restate-worker.ts";
import { limitTenantOf } from "../restate/tenant-object.ts";

export type FleetLimitsGiven = GivenLimits & {
  /** How many runs of each at once; null: as many as there are. */
  readonly tenants?: Readonly<Record<string, number | null>> | undefined;
};

/** Limits of all batches on an engine together, and of tenants. What is absent stays as it is. */
export async function limitFleet(
  address: RestateAddress,
  { tenants = {}, ...limits }: FleetLimitsGiven,
  service: string = defaultService,
): Promise<void> {
  needKnownProviders(limits.rates);
  const api = new RestateApi(address, 5_000);
  if (Object.keys(limits).length > 0) await openKeeper(api, service, fleetKey).limit(limits);
  for (const [tenant, concurrency] of Object.entries(tenants)) await limitTenantOf(api, service, { tenant, concurrency });
}
