import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { ProcessTaskRequest } from "../../tasks/background/task-contract.ts";
import { defineTool, type Tool, ToolFailure } from "../tool.ts";
import { backgroundProcessFacts } from "./facts.ts";

export type BackgroundProcessDeps = {
  /** Starts it, as `BackgroundTaskManager` does. */
  readonly spawn: (request: ProcessTaskRequest) => Promise<BackgroundTaskState>;
  readonly parentSessionId: string;
};

type BackgroundProcessInput = { command: string; description?: string };

/** For programs that start processes their own way: the call answers at once, and output and end go through the registry. */
export function createBackgroundProcessTool({ spawn, parentSessionId }: BackgroundProcessDeps): Tool {
  return defineTool<BackgroundProcessInput>({
    name: "BackgroundProcess",
    description:
      "Starts a command that goes on in the background, and answers at once with the id of its task. You are told when it ends; TaskOutput shows how it is, TaskStop ends it.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, description: "The command" },
        description: { type: "string", description: "What it does, in a few words" },
      },
      required: ["command"],
      additionalProperties: false,
    },
    forgives: { names: { cmd: "command" }, needed: [] },
    concurrent: false,
    facts: backgroundProcessFacts,
    access: async ({ command }) => ({ kind: "run", resources: [command] }),
    async execute({ command, description }, { workspace, callId }) {
      const label = description?.trim() || (command.split("\n", 1)[0] ?? command).slice(0, 80);
      const base = { kind: "process", label, mode: "background", parentSessionId, depth: 1, cwd: workspace.root } as const;
      const { id: taskId, status, error } = await spawn({ ...base, command, metadata: { callId } });
      if (status === "failed") throw new ToolFailure(`The command could not be started: ${error?.message ?? "nobody knows why"}`);
      const text = JSON.stringify({ success: true, background: true, output: "", taskId, status, command });
      return { content: [{ type: "text", text }], details: { backgroundTaskId: taskId } };
    },
  });
}
