import type { Outcome } from "../../protocol/outcome.ts";
import { type AgentDefinition, defaultAgent } from "../../tasks/agent-definition.ts";
import type { TaskEnd } from "../../tasks/task.ts";
import { defineTool, type Tool, ToolFailure, type ToolOutput } from "../tool.ts";
import { defined } from "../../util/defined.ts";
import { taskFacts } from "./facts.ts";

type TaskInput = { description: string; prompt: string; subagent_type?: string; model?: string; isolation?: "worktree" };

/** A subagent ends by itself once its own calls have; they have the usual grace, and it has a little more. */
const abortGraceMs = 1_500;

/** Hands a task to a subagent and waits for its last words. Models also know it as `Agent`. */
export function createTaskTool(agents: readonly AgentDefinition[]): Tool {
  const general = defaultAgent(agents);
  const find = (name: string | undefined): AgentDefinition | undefined =>
    name === undefined ? general : agents.find((agent) => agent.name === name);
  return defineTool<TaskInput>({
    name: "Task",
    description: describe(agents, general),
    inputSchema: {
      type: "object",
      properties: {
        description: { type: "string", minLength: 1, description: "The task in three to five words, for people who watch." },
        prompt: { type: "string", minLength: 1, description: "The whole task. The subagent sees nothing of this conversation." },
        subagent_type: { type: "string", description: "Which of the agents named above does it." },
        model: { type: "string", description: "Another model than the agent's own; only where the user asked for one." },
        isolation: {
          type: "string",
          enum: ["worktree"],
          description: "It works in a git worktree of its own: its changes stay out of this checkout until they are merged.",
        },
      },
      required: ["description", "prompt", ...(general ? [] : ["subagent_type"])],
    },
    concurrent: true,
    facts: taskFacts,
    abortGraceMs,
    async access({ subagent_type }) {
      return { kind: "note", resources: [find(subagent_type)?.name ?? subagent_type ?? ""] };
    },
    async execute({ description, prompt, subagent_type, model, isolation }, { callId, tasks, signal }) {
      const agent = find(subagent_type);
      if (!agent)
        throw new ToolFailure(`There is no agent ${JSON.stringify(subagent_type ?? "")}. The agents are: ${namesOf(agents)}.`);
      if (!tasks) throw new ToolFailure("No subagent can be started here.");
      const task = tasks.start({ callId, agent, description, prompt, ...defined({ model, isolation }) });
      const end = await task.ended;
      if (signal.aborted)
        throw new ToolFailure(withLastWords("The turn was interrupted before the subagent had finished.", end.outcome));
      return toOutput(end);
    },
  });
}

function describe(agents: readonly AgentDefinition[], general: AgentDefinition | undefined): string {
  return [
    "Hands a task to a subagent, which works on it by itself with a context of its own and answers with one message. Use it for work that " +
      "would fill this conversation with things only its outcome matters of, and for independent tasks: several calls in one message run side by side. " +
      "Put everything it needs to know into the prompt, and say what it is to report. Its answer is not shown to the user.",
    "The agents:",
    ...agents.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ").trim()}`),
    ...(general ? [`Without subagent_type it is ${general.name}.`] : []),
  ].join("\n");
}

function namesOf(agents: readonly AgentDefinition[]): string {
  return agents.map(({ name }) => name).join(", ");
}

function toOutput({ outcome, modelCalls, denials, worktree }: TaskEnd): ToolOutput {
  const text = outcome.type === "completed" ? outcome.text : withLastWords(whyNot(outcome, modelCalls), outcome);
  const refused = denials.map(({ tool, reason }) => `- ${tool}: ${reason}`);
  const note = refused.length > 0 ? `\n\nCalls the subagent was not permitted:\n${refused.join("\n")}` : "";
  return {
    content: [{ type: "text", text: text + note + (worktree ? `\n\n${worktree.summary}` : "") }],
    isError: outcome.type !== "completed",
  };
}

function whyNot(outcome: Exclude<Outcome, { type: "completed" }>, modelCalls: number): string {
  switch (outcome.type) {
    case "failed":
      return `The subagent failed: ${outcome.error.message} (${outcome.error.code}).`;
    case "cancelled":
      return "The subagent was stopped before it had finished.";
    case "stopped":
      if (outcome.limit === "max-turns")
        return `The subagent was stopped at its limit of ${modelCalls} model calls, before it had finished.`;
      if (outcome.limit === "max-budget") return "The subagent was stopped: the budget of the session is spent.";
      if (outcome.limit === "max-requests") return "The subagent was stopped: no more models may be asked for this prompt.";
      if (outcome.limit === "loop") return `The subagent went round in circles and was stopped: ${outcome.reason ?? ""}.`;
      return `A hook stopped the subagent: ${outcome.reason ?? "it gave no reason"}.`;
  }
}

function withLastWords(what: string, { text }: Outcome): string {
  return text.trim() ? `${what} The last it said:\n${text}` : `${what} It had said nothing yet.`;
}
