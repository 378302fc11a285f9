import assert from "node:assert/strict";
import { it } from "node:test";
import { enterTenant, leaveTenant, limitTenant, noTenant, type Tenant, type TenantChange } from "./tenants.ts";

const place = (runId: string) => ({ runId, call: `call-${runId}` });
const calls = ({ called }: TenantChange): string[] => called.map(({ call }) => call);

it("gives places in order, and the next one when somebody leaves", () => {
  const first = enterTenant({ ...noTenant, concurrency: 1 }, place("a"));
  const second = enterTenant(first.tenant, place("b"));
  const third = enterTenant(second.tenant, place("c"));
  assert.deepEqual([first, second, third].map(calls), [["call-a"], [], []]);
  const left = leaveTenant(third.tenant, "a");
  assert.deepEqual(left, {
    tenant: { concurrency: 1, running: ["b"], waiting: [place("c")] },
    called: [place("b")],
  });
});

it("forgets who waits and is cancelled, and lets those in that a higher limit has room for", () => {
  const full = ["a", "b", "c", "d"].reduce<Tenant>((tenant, id) => enterTenant(tenant, place(id)).tenant, {
    ...noTenant,
    concurrency: 1,
  });
  const left = leaveTenant(full, "b");
  assert.deepEqual(calls(left), []);
  assert.deepEqual(calls(limitTenant(left.tenant, 3)), ["call-c", "call-d"]);
  assert.deepEqual(calls(limitTenant(left.tenant, undefined)), ["call-c", "call-d"]);
});
