import { applyPlugins } from "./apply-plugins.ts";
import { findPlugins, type PluginGround } from "./find-plugins.ts";
import type { SessionPlan } from "./plan-session.ts";

/** A plan with the bundles that its request names and those that settings switch on. */
export async function withPlugins(plan: SessionPlan, ground: PluginGround): Promise<SessionPlan> {
  return { ...plan, ...(await applyPlugins(plan, await findPlugins(plan.request, ground), ground)) };
}
