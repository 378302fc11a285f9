import { type ModelServer, type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";

export const soakPrompt = "Start them.";

const agent = { name: "Task", input: { description: "idle", prompt: "Do nothing.", run_in_background: true } };
const command = { name: "Bash", input: { command: "echo $RANDOM", description: "print", run_in_background: true } };
const round = [agent, agent, ...Array<typeof command>(8).fill(command)];
export const tasksPerRound: number = round.length;

/** A model that starts a round of tasks whenever it is asked to, and whose agents have nothing to do. */
export async function startSoakModel(): Promise<ModelServer> {
  return await startModelServer({ replies: ({ body }) => reply(body as Asked), keepsRequests: false });
}

type Asked = { readonly messages: readonly unknown[]; readonly tools?: readonly { readonly name: string }[] };

function reply({ messages, tools = [] }: Asked): ServerReply {
  if (!tools.some(({ name }) => name === "Task")) return { text: "Nothing was to be done." };
  return JSON.stringify(messages.at(-1)).includes(soakPrompt) ? { calls: round } : { text: "Good." };
}
