import { RuntimeError } from "../protocol/errors.ts";
import { asAgent } from "../session/subagents/as-agent.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "../tasks/agent-definition.ts";
import { resolveModelWord } from "./model-words.ts";

/** Those that a conversation may be. */
export function mainAgents({
  agents = [],
  builtinAgents: hasBuiltin,
}: Pick<SessionOptions, "agents" | "builtinAgents">): AgentDefinition[] {
  return mergeAgents([agents, hasBuiltin ? builtinAgents : []]);
}

/** The conversation is one of the agents there are. */
export async function withMainAgent(
  options: SessionOptions,
  name: string,
  warn: (line: string) => void,
): Promise<SessionOptions> {
  const agents = mainAgents(options);
  const agent = agents.find((candidate) => candidate.name === name);
  if (!agent)
    throw new RuntimeError("config", `There is no agent ${JSON.stringify(name)}`, {
      hint: `There are: ${agents.map((candidate) => candidate.name).join(", ") || "none"}`,
    });
  const { model, ...rest } = asAgent(options, agent);
  return model === undefined ? rest : { ...rest, model: await resolveModelWord(model, { ...options, warn }) };
}
