import { type ModelServer, type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";

export const launchPrompt = "Start two agents and a command in the background.";
export const goOnPrompt = "Go on.";

/** The three tasks: each leaves a mark in `marks` when it begins, sleeps for `mark` seconds of its own, and leaves another when it is done. */
const tasks = ["one", "two", "command"] as const;

export function workOf(task: string, mark: string): string {
  return `echo ${task} begins >> marks; sleep ${mark}; echo ${task} ends >> marks`;
}

/** A model that plays the session and its agents by what they are shown; `mark` is a time that nobody else sleeps for. */
export async function startTaskModel(mark: string): Promise<ModelServer> {
  return await startModelServer({ replies: ({ body }) => reply(JSON.stringify((body as { messages: unknown }).messages), mark) });
}

function reply(messages: string, mark: string): ServerReply {
  const job = /Do the job of (one|two)\./.exec(messages)?.[1];
  if (job !== undefined && !messages.includes(launchPrompt))
    return messages.includes("tool_result")
      ? { text: `${job} is done.` }
      : { calls: [{ name: "Bash", input: { command: workOf(job, mark) } }] };
  if (messages.includes("tool_use") || messages.includes(goOnPrompt)) return { text: "I heard it." };
  const [one, two, command] = tasks;
  const agent = (name: string) => ({
    name: "Task",
    input: {
      ...{ description: name, prompt: `Do the job of ${name}.`, subagent_type: "general-purpose", run_in_background: true },
    },
  });
  const bash = { name: "Bash", input: { command: workOf(command, mark), description: command, run_in_background: true } };
  return { calls: [agent(one), agent(two), bash] };
}
