import { toOutcome, type TurnReport } from "../../engine/turn.ts";
import { noUsage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { Tasks, TaskSpec } from "../../tasks/task.ts";
import { nearest } from "../../util/nearest.ts";
import type { AgentCall } from "../prompts/session-commands.ts";
import type { UsedSkill } from "./use-skill.ts";

type AgentGround = {
  readonly tasks: Tasks;
  readonly agents: readonly AgentDefinition[];
  readonly signal: AbortSignal;
  readonly newId: () => string;
  /** Of tasks in the background that nobody waits for; answers its name. */
  readonly group: (taskIds: readonly string[], label: string) => Promise<string>;
};

/**
 * `/agent run NAME PROMPT`: the subagent's answer is that of the turn, and no part of the conversation. `/agent parallel` has several at work at
 * once and waits for all of them; their answers stand under their names. With `--detach` they work in the background, as a group.
 */
export function useAgent(call: AgentCall, ground: AgentGround): UsedSkill {
  const { tasks, agents, signal, newId } = ground;
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const toSpec = ({ agent: name, prompt }: Order): TaskSpec => {
    const agent = agents.find((known) => known.name === name) ?? unknown(name, agents);
    return { callId: `agent-command-${newId()}`, agent, description: `/agent ${call.action} ${name}`, prompt };
  };
  const run = async (): Promise<TurnReport> => {
    try {
      const { orders, isDetached } = ordersIn(call);
      const specs = orders.map(toSpec); // all of them are known before one begins
      if (isDetached) return { ...report, outcome: await detach(specs, ground) };
      const ended = await Promise.all(specs.map((spec) => tasks.start(spec).ended));
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

/** Those that have begun go on where a later one cannot begin: the list of tasks has them. */
async function detach(specs: readonly TaskSpec[], { tasks, group }: AgentGround): Promise<Outcome> {
  const beside = await tasks.agents?.();
  if (!beside) throw new RuntimeError("usage", "Agents do not work in the background here; without --detach they are waited for");
  const begun: BackgroundTaskState[] = [];
  for (const spec of specs) begun.push(await beside.startInBackground(spec));
  const ids = begun.map(({ id }) => id);
  const name = await group(ids, "/agent parallel");
  const lines = begun.map(({ id }, at) => `${id} ${specs[at]?.agent.name}`);
  return { type: "completed", text: [`${name} works in the background (/agent wait ${name}):`, ...lines].join("\n") };
}

type Order = { readonly agent: string; readonly prompt: string };

const mostAgents = 8;

function ordersIn({ action, args }: AgentCall): { readonly orders: Order[]; readonly isDetached: boolean } {
  const [, flag, rest = args] = (action === "parallel" && /^--(wait|detach)\s+(.*)$/s.exec(args)) || [];
  const texts = action === "run" ? [args] : rest.split(/\n|;;/);
  const orders = texts
    .map((text) => text.trim())
    .filter(Boolean)
    .map((text): Order => {
      const [, agent = "", prompt = ""] = /^(\S+)\s+(.+)$/s.exec(text) ?? [];
      if (agent.startsWith("--"))
        throw new RuntimeError(
          "usage",
          `/agent ${action} does not take ${agent}${action === "run" ? "" : "; there are --wait and --detach, before all agents"}`,
        );
      if (agent === "") throw new RuntimeError("usage", `${JSON.stringify(text)} is no agent and a prompt for it`);
      return { agent, prompt };
    });
  if (orders.length > mostAgents)
    throw new RuntimeError("usage", `${mostAgents} agents at once are the most, and ${orders.length} were named`);
  return { orders, isDetached: flag === "detach" };
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
