import { type HookSettings, loadHooks } from "../../engine/open-hooks.ts";
import type { Hooks } from "../../hooks/hook.ts";
import { parseRule, type Rule } from "../../permissions/rules.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import { toolsOf } from "../../tasks/agent-limits.ts";
import { type Tool, ToolFailure } from "../../tools/tool.ts";
import type { OwnServers, SessionOptions } from "../session-options.ts";
import { hooksOfAgent } from "./agent-hooks.ts";

/** What an agent brings with it, as long as it works. */
export type OwnParts = {
  /** Of its servers. */
  readonly tools: readonly Tool[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
  /** What a person should hear, a sentence each. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
};

type Ground = {
  readonly taskId: string;
  /** The session's. */
  readonly hooks: Hooks | undefined;
  /** What settings say of hooks; none run where it is absent. */
  readonly hookSettings: HookSettings | undefined;
  readonly openServers: SessionOptions["openServers"];
};

/** Adds its hooks to the session's, for what this agent does, and starts its servers. Rejects where a hook is wrongly written. */
export async function openOwnParts(agent: AgentDefinition, ground: Ground): Promise<OwnParts> {
  const hooks = addHooks(agent, ground);
  try {
    const servers = agent.mcpServers ? await ground.openServers?.(agent.mcpServers, agent.source) : undefined;
    return {
      ...toolsAndRules(agent, servers),
      warnings: [...hooks.warnings, ...(servers?.warnings ?? [])],
      async close() {
        hooks.remove();
        await servers?.close();
      },
    };
  } catch (error) {
    hooks.remove();
    throw cannotBegin(agent, error);
  }
}

function addHooks(
  agent: AgentDefinition,
  { taskId, hooks, hookSettings }: Ground,
): { readonly warnings: readonly string[]; remove(): void } {
  const source = hooksOfAgent(agent, "SubagentStop");
  if (!source || !hooks || !hookSettings) return { warnings: [], remove: () => {} };
  try {
    const set = loadHooks({ hookSettings: { ...hookSettings, sources: [source] } });
    const own = set.hooks.map((hook) => ({ ...hook, agentId: taskId }));
    hooks.add(own);
    return { warnings: set.warnings, remove: () => hooks.remove(own) };
  } catch (error) {
    throw cannotBegin(agent, error);
  }
}

/** It need not name the tools of servers it has for itself; what it is to go without, it goes without. */
function toolsAndRules(agent: AgentDefinition, servers: OwnServers | undefined): Pick<OwnParts, "tools" | "ask" | "deny"> {
  if (!servers) return { tools: [], ask: [], deny: [] };
  const { tools: _, ...limits } = agent;
  const { tools } = toolsOf(limits, servers.tools);
  const rules = (texts: readonly string[]): Rule[] => texts.map((text) => parseRule(text, agent.source));
  return { tools, ask: rules(servers.ask), deny: rules(servers.deny) };
}

function cannotBegin({ name }: AgentDefinition, error: unknown): ToolFailure {
  return new ToolFailure(`The agent ${name} cannot begin: ${toRuntimeError(error).message}`, { cause: error });
}
