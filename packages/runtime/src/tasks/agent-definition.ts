import type { JsonObject } from "../protocol/content.ts";
import type { PermissionMode } from "../protocol/permission.ts";

/** A kind of subagent. It can only narrow what the session may do: fewer tools, a stricter mode, fewer turns. */
export type AgentDefinition = {
  readonly name: string;
  /** When to use it: read by the model that may start one. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** The tools it is given, of those the session has; all but `Task` when absent. */
  readonly tools?: readonly string[];
  /** Tools it is not given; with a pattern, what it may not do with them. */
  readonly disallowedTools?: readonly string[];
  /** Another model of the session's provider; the session's own when absent or `inherit`. */
  readonly model?: string;
  /** How often its model may be asked; never more than the session's own limit. */
  readonly maxTurns?: number;
  /** How hard its model should think; as the session's when absent. */
  readonly effort?: "low" | "medium" | "high";
  /** It works in a git worktree of its own, not in the user's checkout. */
  readonly isolation?: "worktree";
  /** Whoever starts it does not wait for it, unless the call says so. */
  readonly background?: boolean;
  /** Skills whose texts it knows from the beginning, by name. */
  readonly skills?: readonly string[];
  /** Hooks as settings have them, for its own work alone. A Stop hook is asked at its end. */
  readonly hooks?: JsonObject;
  /** MCP servers of its own by name, which are started with it and end with it. */
  readonly mcpServers?: JsonObject;
  /** It has a folder in which it keeps notes, of which `MEMORY.md` is told to it: for all projects, for this one, or for this checkout. */
  readonly memory?: AgentMemoryScope;
  /** Where that folder is. Without it the agent has no memory. */
  readonly memoryFolder?: string;
  /** Stands before the first prompt where the conversation is this agent. */
  readonly initialPrompt?: string;
  /** It works without the instruction files of user and project. */
  readonly omitInstructions?: boolean;
  /** Counts where it is stricter than the session's. */
  readonly permissionMode?: PermissionMode;
  /** It is given no tool that changes files, and none of which nobody knows what it does: those of servers and programs that say nothing of it. */
  readonly onlyLooks?: true;
  /** A flag, a file, or `built-in`. */
  readonly source: string;
};

export type AgentMemoryScope = "user" | "project" | "local";

/** What an agent with a memory needs for it, beside the tools it names. */
export const memoryTools: readonly string[] = ["Read", "Write", "Edit"];

/** What stands first counts, by name. */
export function mergeAgents(lists: readonly (readonly AgentDefinition[])[]): AgentDefinition[] {
  const byName = new Map<string, AgentDefinition>();
  for (const agent of lists.flat()) if (!byName.has(agent.name)) byName.set(agent.name, agent);
  return [...byName.values()];
}

/** Mode `plan` keeps commands to those that look; these have nothing to look at, or nobody knows what they do. */
const onlyLooks = {
  disallowedTools: ["Write", "Edit", "NotebookEdit", "apply_patch", "mcp__*"],
  permissionMode: "plan",
  onlyLooks: true,
} as const;

export const builtinAgents: readonly AgentDefinition[] = [
  {
    name: "general-purpose",
    description:
      "Works on a task of several steps by itself: searching many files, answering a question about the code, or making a change that can be described in full.",
    prompt: [
      "You are a software agent, and another agent has given you one task. Do all of that task and nothing else.",
      "- Read files before you change them.",
      "- If you do not know where something is, search broadly first, then read what matters.",
      "- If a call is refused, read the reason and find a way that is allowed, or say what you could not do. Do not repeat the refused call.",
    ].join("\n"),
    source: "built-in",
  },
  {
    name: "Explore",
    description:
      "Explores the code and changes nothing: finds files, follows names through them and explains how something works. Say how thorough it should be.",
    prompt: [
      "You are a software agent that explores code for another agent. You only look: you cannot change files, so do not try.",
      "- Search broadly first, by several names and in several places, then read what matters. Make independent searches in one message.",
      "- Answer the question with paths and line numbers, and quote only the lines that matter. Say what you looked for and did not find.",
    ].join("\n"),
    ...onlyLooks,
    source: "built-in",
  },
  {
    name: "Plan",
    description:
      "Works out how best to make a change, without making it: reads the code that matters and answers with the steps, the files and the risks.",
    prompt: [
      "You are a software agent that plans a change for another agent. You only look: you cannot change files, so do not try.",
      "- Read the code that the change touches, and see how similar things are done there.",
      "- Answer with the steps in order, each with its files, what to test, and what could go wrong. Where there were several ways, say which one you chose and why.",
    ].join("\n"),
    ...onlyLooks,
    source: "built-in",
  },
];

/** Without a kind, a task goes to the general one, or to the only one there is. */
export function defaultAgent(agents: readonly AgentDefinition[]): AgentDefinition | undefined {
  return agents.find(({ name }) => name === "general-purpose") ?? (agents.length === 1 ? agents[0] : undefined);
}
