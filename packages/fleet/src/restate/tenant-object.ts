import type { ObjectContext } from "@restatedev/restate-sdk";
import { enterTenant, leaveTenant, limitTenant, noTenant, type Tenant, type TenantChange } from "../limits/tenants.ts";
import type { RestateSdk } from "./load-sdk.ts";
import type { RestateApi } from "./restate-api.ts";

/** One per tenant: who of its runs are under way, and who waits for a place. */
export function tenantObject(sdk: RestateSdk, name: string): ReturnType<RestateSdk["object"]> {
  const change = async (engine: ObjectContext, next: (tenant: Tenant) => TenantChange): Promise<void> => {
    const { tenant, called } = next((await engine.get<Tenant>("tenant")) ?? noTenant);
    engine.set("tenant", tenant);
    for (const { call } of called) engine.resolveAwakeable(call, null);
  };
  const object = sdk.object({
    name,
    handlers: {
      limit: async (engine: ObjectContext, { concurrency }: { concurrency: number | null }): Promise<void> =>
        await change(engine, (tenant) => limitTenant(tenant, concurrency ?? undefined)),
      /** The awakeable `call` is resolved when there is a place. */
      enter: async (engine: ObjectContext, place: { runId: string; call: string }): Promise<void> =>
        await change(engine, (tenant) => enterTenant(tenant, place)),
      leave: async (engine: ObjectContext, { runId }: { runId: string }): Promise<void> =>
        await change(engine, (tenant) => leaveTenant(tenant, runId)),
      show: async (engine: ObjectContext): Promise<Tenant> => (await engine.get<Tenant>("tenant")) ?? noTenant,
    },
  });
  return object as unknown as ReturnType<RestateSdk["object"]>; // its handlers are called by name
}

export function tenantsName(service: string): string {
  return `${service}Tenants`;
}

/** How many runs of a tenant may be under way at once, on all workers together; null: as many as there are. */
export async function limitTenantOf(
  api: RestateApi,
  service: string,
  { tenant, concurrency }: { tenant: string; concurrency: number | null },
): Promise<void> {
  await api.call({ service: tenantsName(service), key: tenant, handler: "limit" }, { concurrency });
}
