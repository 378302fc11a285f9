import { isAgentTool, namesTool, type Rule } from "../permissions/rules.ts";
import { unknownTool } from "../permissions/tool-names.ts";
import type { ToolFacts } from "../protocol/tool-facts.ts";
import { isLooserMode, type PermissionMode } from "../protocol/permission.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { toolRule } from "./agent-tool-rule.ts";

export type AgentTools<Tool> = {
  readonly tools: readonly Tool[];
  /** What it may not do with the tools it has. */
  readonly deny: readonly Rule[];
  readonly warnings: readonly string[];
};

/** Of the session's tools those the agent is given. Never the one that starts agents. */
export function toolsOf<Tool extends { readonly name: string; readonly facts?: ToolFacts }>(
  { name, tools: wanted, disallowedTools = [], onlyLooks, source }: AgentDefinition,
  offered: Iterable<Tool>,
): AgentTools<Tool> {
  const warnings: string[] = [];
  const every = [...new Set(offered)].filter(
    ({ facts }) => !facts?.startsAgents && !facts?.ofConversation && !facts?.isOtherName,
  );
  const all = onlyLooks ? every.filter(({ facts }) => facts !== undefined && facts.kind !== "edit") : every;
  const unwanted = disallowedTools.map((text) => toolRule(text, source));
  const problemWith = (rule: Rule): string | undefined =>
    rule.tool === "*"
      ? undefined
      : unknownTool(
          rule.tool,
          all.map((tool) => tool.name),
        );
  for (const rule of unwanted) {
    const problem = problemWith(rule);
    if (problem !== undefined)
      warnings.push(`The agent ${name} is to go without ${rule.text}, which takes nothing from it. ${problem}`);
  }
  const rules = wanted?.map((text) => toolRule(text, source));
  for (const rule of rules ?? []) {
    if (rule.pattern !== undefined)
      warnings.push(
        `The agent ${name} is not given ${rule.text}: its tools are named without a pattern, and rules say what they may do`,
      );
    else if (!isSpawner(rule) && !all.some((tool) => names(rule, tool)))
      warnings.push(
        [`The agent ${name} is to have the tool ${rule.text}, which is not there`, problemWith(rule)].filter(Boolean).join(". "),
      );
  }
  const isWanted = (tool: Tool): boolean => !rules || rules.some((rule) => rule.pattern === undefined && names(rule, tool));
  const isTaken = (tool: Tool): boolean => unwanted.some((rule) => rule.pattern === undefined && names(rule, tool));
  return {
    tools: all.filter((tool) => isWanted(tool) && !isTaken(tool)),
    deny: unwanted.filter((rule) => rule.pattern !== undefined),
    warnings,
  };
}

function names(rule: Rule, { name }: { readonly name: string }): boolean {
  return namesTool(rule, { tool: name, kind: "note", resource: "" });
}

function isSpawner({ tool }: Rule): boolean {
  return isAgentTool(tool);
}

export function stricterMode(session: PermissionMode, agent: PermissionMode | undefined): PermissionMode {
  return agent !== undefined && isLooserMode(session, agent) ? agent : session;
}
