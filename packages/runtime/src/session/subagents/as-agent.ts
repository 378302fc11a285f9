import { isAgentTool } from "../../permissions/rules.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "../../tasks/agent-definition.ts";
import { stricterMode } from "../../tasks/agent-limits.ts";
import { toolRule } from "../../tasks/agent-tool-rule.ts";
import { least } from "../../util/least.ts";
import type { SessionOptions } from "../session-options.ts";
import { defined } from "../../util/defined.ts";
import { describeMemory } from "../../tasks/agent-memory.ts";
import { hooksOfAgent } from "./agent-hooks.ts";

/**
 * A session whose conversation is one of its agents: with the agent's prompt, and with no more than the agent may do. The options' own model
 * stays when they name one; a tool of an MCP server is offered when the agent's list names it or its server.
 */
export function asAgent(options: SessionOptions, agent: AgentDefinition): SessionOptions {
  const { tools, disallowedTools = [], permissionMode, maxTurns, initialPrompt } = agent;
  const { hookSettings } = options;
  const hooks = hooksOfAgent(agent, "Stop");
  const turns = least(options.maxTurns, maxTurns);
  const wanted = tools?.includes("*") ? undefined : tools?.map((tool) => tool.replace(/\(.*$/s, ""));
  const isWanted = (name: string): boolean => !wanted || wanted.some((word) => name === word || name.startsWith(`${word}__`));
  const model = agent.model === "inherit" ? undefined : agent.model;
  const startable = startableBy(agent);
  return {
    ...options,
    systemPrompt: undefined,
    agentPrompt: [agent.prompt, describeMemory(agent)].filter(Boolean).join("\n\n"),
    ...(hookSettings && hooks && { hookSettings: { ...hookSettings, sources: [...hookSettings.sources, hooks] } }),
    ...defined({ initialPrompt }),
    ...(wanted && { builtinTools: options.builtinTools ? options.builtinTools.filter(isWanted) : wanted }),
    tools: options.tools?.filter(({ name }) => isWanted(name)),
    offers: (name) => isWanted(name) && (options.offers?.(name) ?? true),
    disallowedTools: [...(options.disallowedTools ?? []), ...disallowedTools],
    ...(startable && { agents: agentsOf(options).filter(({ name }) => startable.has(name)), builtinAgents: false }),
    ...(options.model === undefined && model !== undefined && { model }),
    permissionMode: stricterMode(options.permissionMode ?? "default", permissionMode),
    ...defined({ maxTurns: turns }),
    ...(options.effort === undefined && agent.effort && { effort: agent.effort }),
  };
}

/** The agents that it may start where its tools say so, `Agent(one, two)`. */
function startableBy({ tools = [], source }: AgentDefinition): ReadonlySet<string> | undefined {
  const rules = tools.map((text) => toolRule(text, source)).filter(({ tool }) => tool === "*" || isAgentTool(tool));
  if (rules.length === 0 || rules.some(({ pattern }) => pattern === undefined)) return undefined;
  return new Set(rules.flatMap(({ pattern = "" }) => pattern.split(",").map((name) => name.trim())));
}

function agentsOf({ agents = [], builtinAgents: hasBuiltin }: SessionOptions): AgentDefinition[] {
  return mergeAgents([agents, hasBuiltin ? builtinAgents : []]);
}
