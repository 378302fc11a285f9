import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import { toEndWords, withLastWords } from "../tasks/subagents/end-words.ts";
import type { AgentTasks, StartedTask, Tasks, TaskSpec } from "../tasks/task.ts";
import { defined } from "../util/defined.ts";
import type { SendMessageInput } from "./builtin/send-message.ts";
import type { TaskInput } from "./builtin/task.ts";
import { startedAgents } from "./started-agents.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type KnownAgents = {
  readonly find: (name: string | undefined) => AgentDefinition | undefined;
  readonly names: string;
  /** Where neither the call nor the agent says it. */
  readonly inBackground: boolean;
};

/** What a call of the task tool does. */
export async function runTask(input: TaskInput, context: ToolContext, known: KnownAgents): Promise<ToolOutput> {
  const { find, names, inBackground } = known;
  const { description, prompt, subagent_type, model, effort, isolation, resume, name } = input;
  const { callId, tasks } = context;
  const agent = find(subagent_type);
  if (!agent && resume === undefined)
    throw new ToolFailure(`There is no agent ${JSON.stringify(subagent_type ?? "")}. The agents are: ${names}.`);
  if (!tasks) throw new ToolFailure("No subagent can be started here.");
  if (resume !== undefined || !agent) {
    const agents = await agentsOf(tasks);
    const spec = { callId, agentId: resume ?? "", prompt, description };
    if (input.run_in_background) return launched(await agents.resumeInBackground(spec), context);
    return await finished(await agents.resume(spec), context);
  }
  const spec: TaskSpec = { callId, agent, description, prompt, ...defined({ model, effort, isolation, name }) };
  if (input.run_in_background ?? agent.background ?? inBackground)
    return launched(await (await agentsOf(tasks)).startInBackground(spec), context);
  const task = tasks.start(spec);
  startedAgents(context.memory).set(task.taskId, agent.name);
  return await finished(task, context);
}

/** What a call of SendMessage does. */
export async function sendMessage({ to, message }: SendMessageInput, context: ToolContext): Promise<ToolOutput> {
  const { callId, tasks } = context;
  if (!tasks?.agents) throw new ToolFailure("There are no agents here.");
  const { how, task } = await (await tasks.agents()).send({ callId, agentId: to, prompt: message });
  const heard =
    task.status === "queued"
      ? `${task.id} waits for others to end, and reads the message after its first step.`
      : `${task.id} is at work and reads the message with its next step.`;
  const resumed = `${task.id} had ended; it works again in the background, with all it knew and this message. You are told when it has finished.`;
  const words = how === "heard" ? heard : resumed;
  const name = task.metadata?.["name"];
  const told = {
    ...{ success: true, message: words, pin: { id: task.id, ...(typeof name === "string" && { name }) } },
    ...(how === "resumed" && { resumedAgentId: task.id, revivedAgentId: task.id }),
  };
  return { content: [{ type: "text", text: words }], details: { backgroundTaskId: task.id, told } };
}

async function finished(task: StartedTask, { signal }: ToolContext): Promise<ToolOutput> {
  const end = await task.ended;
  if (signal.aborted)
    throw new ToolFailure(withLastWords("The turn was interrupted before the subagent had finished.", end.outcome));
  return { content: [{ type: "text", text: toEndWords(end) }], isError: end.outcome.type !== "completed" };
}

function launched(task: BackgroundTaskState, { memory }: ToolContext): ToolOutput {
  const { id, agentType = "", metadata } = task;
  for (const known of [id, metadata?.["name"]]) if (typeof known === "string") startedAgents(memory).set(known, agentType);
  const words =
    task.status === "queued"
      ? `The agent waits as the task ${id}: too many others work. It begins when one of them ends.`
      : `The agent works in the background as the task ${id}.`;
  const how =
    "You are told when it has finished, with its answer: until then nothing is known of it. Go on with other work, and leave its work to it. " +
    `SendMessage with to ${JSON.stringify(id)} tells it something, TaskStop ends it.`;
  return { content: [{ type: "text", text: `${words} ${how}` }], details: { backgroundTaskId: id } };
}

async function agentsOf({ agents }: Tasks): Promise<AgentTasks> {
  if (!agents) throw new ToolFailure("No agent can work in the background here. Start it without run_in_background and resume.");
  return await agents();
}
