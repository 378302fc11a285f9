import type { ToolMemory } from "./tool.ts";

/** The kinds of the agents that were started, by id and name: a rule about a kind holds for one that goes on, too. */
export function startedAgents(memory: ToolMemory): Map<string, string> {
  return memory.slot("started.agents", () => new Map<string, string>());
}
