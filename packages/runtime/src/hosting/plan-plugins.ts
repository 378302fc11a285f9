import { applyPlugins } from "./apply-plugins.ts";
import { findPlugins, type PluginGround } from "./find-plugins.ts";
import type { SessionPlan } from "./plan-session.ts";
import type { NamedPlugin } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

/** A plan with the bundles that its request names and those that settings switch on. */
export async function withPlugins(plan: SessionPlan, ground: PluginGround): Promise<SessionPlan> {
  return { ...plan, ...(await applyPlugins(plan, await findPlugins(plan.request, ground), ground)) };
}

/** The same plan with bundles that somebody names after it was made. */
export async function withMorePlugins(
  plan: SessionPlan,
  named: readonly NamedPlugin[],
  around: Surroundings,
): Promise<SessionPlan> {
  const { project, resolved } = plan;
  const taken = plan.options.loadedPlugins?.loaded ?? [];
  const found = await findPlugins({ plugins: named, without: ["plugins"] }, { around, project, resolved }, taken);
  const request = { ...plan.request, plugins: [...(plan.request.plugins ?? []), ...named] };
  return { ...plan, request, ...(await applyPlugins(plan, found, { around, project, resolved })) };
}
