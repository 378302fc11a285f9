import { describeSkills } from "../../commands/skills/describe-skills.ts";
import type { Emit } from "../../protocol/events.ts";
import { mergeAgents } from "../../tasks/agent-definition.ts";
import { taskNames } from "../../tools/builtin/facts.ts";
import { createTaskTool } from "../../tools/builtin/task.ts";
import type { Tool } from "../../tools/tool.ts";
import type { OpenSession } from "../create-session.ts";
import { takenAway } from "../offer-tools.ts";
import type { ReloadedPlugins, SessionOptions } from "../session-options.ts";
import { offerSkills } from "../skills/offer-skills.ts";

/** Other bundles for a session between two turns: what they brought goes, what the new ones bring comes. What was said stays as it is. */
export async function swapPlugins(
  session: OpenSession,
  reloaded: ReloadedPlugins,
  { options, emit }: { readonly options: SessionOptions; readonly emit: Emit },
): Promise<void> {
  await session.hooks.replace(reloaded.hookSettings); // first: a hook that is wrong changes nothing
  swapSkills(session, reloaded, options);
  swapAgents(session, reloaded, options);
  const { facts, refresh } = session.controlled;
  refresh();
  facts.plugins = [...reloaded.loaded];
  facts.pluginErrors = [...reloaded.problems];
  const { tools, agents, plugins, pluginErrors } = facts;
  emit({ type: "session.changed", tools, plugins, pluginErrors, ...(agents && { agents }) });
  for (const message of reloaded.warnings) emit({ type: "warning.raised", message });
}

/** The model is told of the new ones in the place where it was told of the old ones. */
function swapSkills(session: OpenSession, { skills: found }: ReloadedPlugins, options: SessionOptions): void {
  const { skills, deps, controlled } = session;
  const { request, tools } = controlled;
  const before = skills.offered.length === 0 ? "" : deps.redactor.text(describeSkills(skills.offered, skills.listing));
  skills.replacePlugins(found);
  session.skillUses ??= offerSkills(options, { skills, tools, taken: takenAway(options) })?.uses;
  for (const tool of tools.values()) tellOf(session, tool);
  if (!session.skillUses) return;
  const after = deps.redactor.text(describeSkills(skills.offered, skills.listing));
  const system = request.system ?? "";
  const isThere = before !== "" && system.includes(before);
  request.system = isThere ? system.replace(before, () => after) : `${system}\n\n${after}`;
}

function swapAgents(session: OpenSession, { agents: found }: ReloadedPlugins, options: SessionOptions): void {
  const { tools, definitions, facts } = session.controlled;
  const own = session.agents.filter(({ source }) => !source?.startsWith("plugin "));
  session.agents = mergeAgents([own, found]);
  const known = taskNames.filter((name) => tools.has(name));
  if (known.length === 0) return;
  const offered = mergeAgents([own.filter(({ name }) => facts.agents?.includes(name)), found]);
  const task = createTaskTool(offered, options);
  for (const name of known) tools.set(name, task);
  const at = definitions.findIndex(({ name }) => name === task.name);
  const { name, description, inputSchema } = task;
  if (at >= 0) definitions.splice(at, 1, { name, description, inputSchema });
  facts.agents = offered.map((agent) => agent.name);
}

function tellOf({ controlled: { definitions } }: OpenSession, { name, description, inputSchema, facts }: Tool): void {
  if (facts?.isOtherName || definitions.some((known) => known.name === name)) return;
  definitions.push({ name, description, inputSchema });
}
