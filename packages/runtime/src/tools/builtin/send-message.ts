import { defineTool, type Tool } from "../tool.ts";
import { startedAgents } from "../started-agents.ts";
import { sendMessageFacts } from "./facts.ts";

export type SendMessageInput = { to: string; message: string };

/** Tells an agent something that was started earlier. */
export const sendMessageTool: Tool = defineTool<SendMessageInput>({
  name: "SendMessage",
  description:
    "Tells an agent you have started something more. One at work reads it with its next step; one that has ended goes on with all it knew, in the background.",
  inputSchema: {
    type: "object",
    properties: {
      to: { type: "string", minLength: 1, description: "The id of the agent, or the name you gave it" },
      message: { type: "string", minLength: 1 },
    },
    required: ["to", "message"],
  },
  forgives: { names: { agentId: "to", task_id: "to" }, needed: [] },
  concurrent: false,
  facts: sendMessageFacts,
  async access({ to }, _workspace, memory) {
    return { kind: "note", resources: [(memory && startedAgents(memory).get(to)) ?? to] };
  },
  async execute(input, context) {
    const { sendMessage } = await import("../run-task.ts");
    return await sendMessage(input, context);
  },
});
