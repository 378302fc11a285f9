import { toOutcome, type TurnReport } from "../../engine/turn.ts";
import { noUsage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import type { Tasks } from "../../tasks/task.ts";
import { nearest } from "../../util/nearest.ts";
import type { AgentCall } from "../prompts/session-commands.ts";
import type { UsedSkill } from "./use-skill.ts";

type AgentGround = {
  readonly tasks: Tasks;
  readonly agents: readonly AgentDefinition[];
  readonly signal: AbortSignal;
  readonly newId: () => string;
};

/** `/agent run NAME PROMPT`: the subagent's answer is that of the turn, and no part of the conversation. */
export function useAgent({ agent: name, args: prompt }: AgentCall, { tasks, agents, signal, newId }: AgentGround): UsedSkill {
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const run = async (): Promise<TurnReport> => {
    try {
      const agent = agents.find((known) => known.name === name) ?? unknown(name, agents);
      const description = `/agent run ${name}`;
      const { outcome } = await tasks.start({ callId: `agent-command-${newId()}`, agent, description, prompt }).ended;
      return { ...report, outcome };
    } catch (error) {
      return { ...report, outcome: toOutcome(error, signal, "") };
    }
  };
  return { type: "aside", run };
}

function unknown(name: string, agents: readonly AgentDefinition[]): never {
  const names = agents.map((agent) => agent.name);
  const guess = nearest(name, names);
  throw new RuntimeError(
    "usage",
    `There is no agent ${name}${guess === undefined ? `; there are ${names.join(", ")}` : `; did you mean ${guess}?`}`,
  );
}
