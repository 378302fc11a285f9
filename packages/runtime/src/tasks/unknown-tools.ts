import { unknownTool } from "../permissions/tool-names.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** What an agent is to have or to go without, and is the name of no tool: a sentence for each, with the nearest name. */
export function unknownToolsOf({ name, source, tools = [], disallowedTools = [] }: AgentDefinition): string[] {
  return [...tools, ...disallowedTools].flatMap((text) => {
    const tool = text.replace(/\(.*/s, "").trim();
    const problem = tool === "*" ? undefined : unknownTool(tool);
    return problem === undefined ? [] : [`${source}: The agent ${name} names a tool that is none. ${problem}`];
  });
}
