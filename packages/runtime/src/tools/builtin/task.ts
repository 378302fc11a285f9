import { forgives } from "../forgiven/later.ts";
import { type AgentDefinition, defaultAgent } from "../../tasks/agent-definition.ts";
import { defineTool, type Tool } from "../tool.ts";
import { startedAgents } from "../started-agents.ts";
import { taskFacts } from "./facts.ts";

export type TaskInput = {
  description: string;
  prompt: string;
  subagent_type?: string;
  model?: string;
  effort?: "low" | "medium" | "high";
  isolation?: "worktree";
  run_in_background?: boolean;
  resume?: string;
  name?: string;
};

/** A subagent ends by itself once its own calls have; they have the usual grace, and it has a little more. */
const abortGraceMs = 1_500;

/** Hands a task to a subagent, and waits for its last words unless that is to be done in the background. Models also know it as `Agent`. */
export function createTaskTool(
  agents: readonly AgentDefinition[],
  { backgroundAgents: inBackground = false }: { readonly backgroundAgents?: boolean | undefined } = {},
): Tool {
  const general = defaultAgent(agents);
  const find = (name: string | undefined): AgentDefinition | undefined =>
    name === undefined ? general : findAgent(agents, name);
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
        run_in_background: {
          type: "boolean",
          description: "true: the call answers at once with the agent's id, and you are told when it has finished.",
        },
        resume: {
          type: "string",
          description: "The id or name of an agent that has ended: it goes on with all it knew, and this prompt.",
        },
        name: { type: "string", minLength: 1, description: "A name for the agent, to tell it more later (SendMessage, resume)." },
      },
      required: ["description", "prompt", ...(general ? [] : ["subagent_type"])],
    },
    concurrent: true,
    forgives: forgives("task"),
    facts: taskFacts,
    abortGraceMs,
    async access({ subagent_type, resume }, _workspace, memory) {
      const earlier = resume === undefined ? undefined : memory && startedAgents(memory).get(resume);
      return { kind: "note", resources: [earlier ?? find(subagent_type)?.name ?? subagent_type ?? ""] };
    },
    async execute(input, context) {
      const { runTask } = await import("../run-task.ts");
      return await runTask(input, context, { find, names: namesOf(agents), inBackground });
    },
  });
}

function describe(agents: readonly AgentDefinition[], general: AgentDefinition | undefined): string {
  return [
    "Hands a task to a subagent, which works on it by itself in a context of its own and answers with one message. Use it for work whose " +
      "details would fill this conversation although only the outcome matters, and for independent tasks: several calls in one message run in parallel. " +
      "Do not use it to read one known file or to search for one name. " +
      "Put everything it needs to know into the prompt, and say what it should report. Its answer is not shown to the user.",
    "The agents:",
    ...agents.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ").trim()}`),
    ...(general ? [`Without subagent_type it is ${general.name}.`] : []),
  ].join("\n");
}

/** By its name, or by the same in other letters if only one agent is meant by that. */
function findAgent(agents: readonly AgentDefinition[], wanted: string): AgentDefinition | undefined {
  const exact = agents.find(({ name }) => name === wanted);
  if (exact) return exact;
  const bare = (name: string): string => name.replace(/[-_\s]/g, "").toLowerCase();
  const alike = agents.filter(({ name }) => bare(name) === bare(wanted));
  return alike.length === 1 ? alike[0] : undefined;
}

function namesOf(agents: readonly AgentDefinition[]): string {
  return agents.map(({ name }) => name).join(", ");
}
