import type { ToolDefinition } from "../protocol/content.ts";
import type { DeferredTools, Tool } from "../tools/tool.ts";

/** The tools of a session, or of a subagent, that its requests do not show; loading one adds it at the end of what they show. */
export function deferredToolsOf(tools: ReadonlyMap<string, Tool>, shown: ToolDefinition[]): DeferredTools {
  const list = (): Tool[] => [...new Set(tools.values())].filter(({ deferred }) => deferred);
  return {
    list,
    load(names) {
      for (const { name, description, inputSchema } of list())
        if (names.includes(name) && !shown.some((tool) => tool.name === name)) shown.push({ name, description, inputSchema });
    },
  };
}
