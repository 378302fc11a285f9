import { builtinAgents } from "../tasks/agent-definition.ts";
import type { FoundAgents } from "./find-agents.ts";

/** The agent that a settings file makes of the conversation. One that is not there is told of: nobody has asked for it now. */
export function agentOfSettings(
  agent: string,
  { agents, warn }: { readonly agents: FoundAgents; readonly warn: (line: string) => void },
): string | undefined {
  if ([...(agents.options.agents ?? []), ...builtinAgents].some(({ name }) => name === agent)) return agent;
  warn(`The setting agent names ${JSON.stringify(agent)}, and there is no such agent`);
  return undefined;
}
