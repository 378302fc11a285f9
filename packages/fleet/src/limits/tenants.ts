/** Somebody's runs on a fleet: which are under way, and which wait for a place, in order. JSON. */
export type Tenant = {
  /** How many at once; as many as there are when absent. */
  readonly concurrency?: number | undefined;
  readonly running: readonly string[];
  readonly waiting: readonly Waiting[];
};

/** `call`: what is resolved when the run has its place. */
export type Waiting = { readonly runId: string; readonly call: string };

export type TenantChange = { readonly tenant: Tenant; readonly called: readonly Waiting[] };

export const noTenant: Tenant = { running: [], waiting: [] };

export function enterTenant(tenant: Tenant, place: Waiting): TenantChange {
  const others = tenant.waiting.filter(({ runId }) => runId !== place.runId);
  return settle({ ...tenant, running: without(tenant.running, place.runId), waiting: [...others, place] });
}

export function leaveTenant(tenant: Tenant, runId: string): TenantChange {
  return settle({
    ...tenant,
    running: without(tenant.running, runId),
    waiting: tenant.waiting.filter((place) => place.runId !== runId),
  });
}

export function limitTenant(tenant: Tenant, concurrency: number | undefined): TenantChange {
  return settle({ ...tenant, concurrency });
}

/** Calls those for whom there is room. Nobody who runs is stopped when there are too many. */
function settle(tenant: Tenant): TenantChange {
  const room = Math.max(0, (tenant.concurrency ?? Infinity) - tenant.running.length);
  const called = tenant.waiting.slice(0, room);
  return {
    tenant: {
      ...tenant,
      running: [...tenant.running, ...called.map(({ runId }) => runId)],
      waiting: tenant.waiting.slice(called.length),
    },
    called,
  };
}

function without(list: readonly string[], one: string): readonly string[] {
  return list.filter((other) => other !== one);
}
