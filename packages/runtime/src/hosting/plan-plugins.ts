import { findSkills } from "../commands/skills/find-skills.ts";
import type { ReloadedPlugins } from "../session/session-options.ts";
import type { McpServers } from "../tools/mcp/mcp-servers.ts";
import { defined } from "../util/defined.ts";
import { applyPlugins, isStrict, toFact, withServers } from "./apply-plugins.ts";
import { type FoundPlugins, findPlugins, type PluginGround } from "./find-plugins.ts";
import type { SessionPlan } from "./plan-session.ts";
import { openProject, resolveProject } from "./project.ts";
import type { NamedPlugin, SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

/** A plan with the bundles that its request names and those that settings switch on. */
export async function withPlugins(plan: SessionPlan, ground: PluginGround): Promise<SessionPlan> {
  const found = await findPlugins(plan.request, ground);
  return { ...plan, request: withAgentOf(plan.request, found), ...(await applyPlugins(plan, found, ground)) };
}

/** A bundle may say that a conversation is one of its agents, where nobody names another. */
function withAgentOf(request: SessionRequest, { loaded }: FoundPlugins): SessionRequest {
  const names = loaded.flatMap(({ mainAgent, agents }) => (agents.some(({ name }) => name === mainAgent) ? mainAgent : []));
  return { ...request, ...defined({ mainAgent: request.mainAgent ?? names[0] }) };
}

/** The same plan with bundles that somebody names after it was made. */
export async function withMorePlugins(
  plan: SessionPlan,
  named: readonly NamedPlugin[],
  around: Surroundings,
): Promise<SessionPlan> {
  const ground = { around, project: plan.project, resolved: plan.resolved, keySource: plan.keySource };
  const taken = plan.options.loadedPlugins?.loaded ?? [];
  const found = await findPlugins({ plugins: named, without: ["plugins"] }, ground, taken);
  const request = withAgentOf({ ...plan.request, plugins: [...(plan.request.plugins ?? []), ...named] }, found);
  const extended = await applyPlugins(plan, found, ground);
  const before = plan.options.loadedPlugins?.reload;
  const reload: typeof before = before && ((more = []) => before([...named, ...more]));
  const options = { ...extended.options, loadedPlugins: { ...extended.options.loadedPlugins, reload } };
  return { ...plan, request, ...extended, options: await plan.tellFiles(options) };
}

/** Settings and folders as they are now, and what the bundles bring that count by them. */
export async function reloadPlugins(
  request: SessionRequest,
  { around, keySource }: Pick<PluginGround, "around" | "keySource">,
): Promise<ReloadedPlugins> {
  const project = await openProject(request, around);
  const resolved = await resolveProject(project);
  const ground = { around, project, resolved, keySource };
  const { loaded, problems, warnings } = await findPlugins(request, ground);
  const { skills, warnings: told } = await findSkills(loaded.flatMap(({ skillFolders }) => skillFolders));
  const { disableAllHooks, allowedHttpHookUrls } = resolved.settings;
  return {
    ...{ loaded: loaded.map(toFact), problems: [...problems], warnings: [...warnings, ...told], skills },
    agents: loaded.flatMap(({ agents }) => agents),
    hookSettings: {
      sources: loaded.flatMap(({ hooks }) => hooks),
      disableAllHooks,
      ...defined({ allowedHttpHookUrls }),
      variables: around.env,
    },
    servers: (others) => {
      const all = isStrict(request) ? others : withServers(others, loaded, ground);
      return new Map([...all].filter(([name]) => !others.has(name)));
    },
  };
}

/** Servers come and go with their bundles; where none can be added any more, that is told. */
export async function swapServers(
  reloaded: ReloadedPlugins,
  { mcp, configs }: { readonly mcp: McpServers | undefined; readonly configs: SessionPlan["servers"]["configs"] },
): Promise<ReloadedPlugins> {
  const servers = reloaded.servers(new Map([...configs].filter(([name]) => !name.startsWith("plugin:"))));
  await mcp?.replaceOf("plugin:", servers);
  if (mcp || servers.size === 0) return reloaded;
  const warning = `The servers of plugins (${[...servers.keys()].join(", ")}) count from the next session on`;
  return { ...reloaded, warnings: [...reloaded.warnings, warning] };
}
