import { toOutcome, type TurnReport } from "../../engine/turn.ts";
import { noUsage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
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

/**
 * `/agent run NAME PROMPT`: the subagent's answer is that of the turn, and no part of the conversation. `/agent parallel` has several at work at
 * once and waits for all of them; their answers stand under their names.
 */
export function useAgent(call: AgentCall, { tasks, agents, signal, newId }: AgentGround): UsedSkill {
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const begin = ({ agent: name, prompt }: Order): ReturnType<Tasks["start"]>["ended"] => {
    const agent = agents.find((known) => known.name === name) ?? unknown(name, agents);
    const description = `/agent ${call.action} ${name}`;
    return tasks.start({ callId: `agent-command-${newId()}`, agent, description, prompt }).ended;
  };
  const run = async (): Promise<TurnReport> => {
    try {
      const orders = ordersIn(call);
      for (const { agent } of orders) if (agents.every(({ name }) => name !== agent)) unknown(agent, agents);
      const ended = await Promise.all(orders.map(begin));
      const [first] = ended;
      if (first && ended.length === 1) return { ...report, outcome: first.outcome };
      return {
        ...report,
        outcome: united(
          orders,
          ended.map(({ outcome }) => outcome),
        ),
      };
    } catch (error) {
      return { ...report, outcome: toOutcome(error, signal, "") };
    }
  };
  return { type: "aside", run };
}

type Order = { readonly agent: string; readonly prompt: string };

const mostAgents = 8;

function ordersIn({ action, args }: AgentCall): Order[] {
  const texts = action === "run" ? [args] : args.replace(/^--wait\s+/, "").split(/\n|;;/);
  const orders = texts
    .map((text) => text.trim())
    .filter(Boolean)
    .map((text): Order => {
      const [, agent = "", prompt = ""] = /^(\S+)\s+(.+)$/s.exec(text) ?? [];
      if (agent.startsWith("--"))
        throw new RuntimeError("usage", `/agent ${action} does not take ${agent}: it waits for all of them`);
      if (agent === "") throw new RuntimeError("usage", `${JSON.stringify(text)} is no agent and a prompt for it`);
      return { agent, prompt };
    });
  if (orders.length > mostAgents)
    throw new RuntimeError("usage", `${mostAgents} agents at once are the most, and ${orders.length} were named`);
  return orders;
}

/** Completed where all of them have; else how the first ended that has not, with all that was said. */
function united(orders: readonly Order[], outcomes: readonly Outcome[]): Outcome {
  const said = outcomes.map((outcome, at) => {
    const words = outcome.type === "failed" ? outcome.error.message : outcome.text;
    return `## ${orders[at]?.agent}${outcome.type === "completed" ? "" : ` (${outcome.type})`}\n\n${words}`;
  });
  const text = said.join("\n\n");
  const other = outcomes.find(({ type }) => type !== "completed");
  return other ? { ...other, text } : { type: "completed", text };
}

function unknown(name: string, agents: readonly AgentDefinition[]): never {
  const names = agents.map((agent) => agent.name);
  const guess = nearest(name, names);
  throw new RuntimeError(
    "usage",
    `There is no agent ${name}${guess === undefined ? `; there are ${names.join(", ")}` : `; did you mean ${guess}?`}`,
  );
}
