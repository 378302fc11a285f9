import { RuntimeError } from "../../protocol/errors.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "../../tasks/agent-definition.ts";
import { assembleSubagentPrompt, type AssembleSubagentPromptOptions } from "../../tasks/subagents/assemble-prompt.ts";
import { defined } from "../../util/defined.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";
import { asAgent } from "./as-agent.ts";

export type SubagentSessionOptions = Omit<AssembleSubagentPromptOptions, "agentBody"> & {
  /** Also the id of the session. */
  readonly agentId: string;
  /** Its definition, or the name of one that is built in or among `parent.agents`. */
  readonly agent: AgentDefinition | string;
  /** What the session that starts it was opened with. Nothing else is read. */
  readonly parent: SessionOptions;
  /** Takes the place of the agent's own. */
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
};

/**
 * A session of its own for a subagent: its prompt, and no more than it and its parent may do. What it is denied goes first, then what its list
 * does not name, and always what starts agents: a subagent starts none.
 */
export function createSubagentSession(options: SubagentSessionOptions): InteractiveSession {
  const { agentId, agent: wanted, parent, model, cwd, claudeMd, agentsMd, isForkWorker } = options;
  const agent = typeof wanted === "string" ? findAgent(wanted, parent) : wanted;
  const narrowed = asAgent({ ...parent, ...defined({ cwd }) }, agent);
  const chosen = model ?? (agent.model === "inherit" ? undefined : agent.model) ?? parent.model;
  const { resumeSessionId: _, resumeAt: __, sessionId: ___, worktree: ____, ...own } = narrowed;
  return new InteractiveSession({
    ...own,
    ...defined({ model: chosen }),
    sessionId: agentId,
    systemPrompt: assembleSubagentPrompt({ agentBody: agent.prompt, claudeMd, agentsMd, isForkWorker }),
    agent: { id: agentId, type: agent.name },
    agents: [],
    builtinAgents: false,
    wakes: false,
  });
}

export function findAgent(name: string, { agents = [] }: Pick<SessionOptions, "agents">): AgentDefinition {
  const known = mergeAgents([agents, builtinAgents]);
  const found = known.find((agent) => agent.name === name);
  if (found) return found;
  throw new RuntimeError("not-found", `There is no agent ${JSON.stringify(name)}`, {
    hint: `The agents are: ${known.map((agent) => agent.name).join(", ")}`,
  });
}
