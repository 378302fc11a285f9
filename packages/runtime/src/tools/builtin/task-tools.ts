import type { TaskText } from "../task-inputs.ts";
import { forgives } from "../forgiven/later.ts";
import type { BackgroundTasks } from "../../tasks/task.ts";
import { createToolMemory, defineTool, type Tool, type ToolContext, ToolFailure } from "../tool.ts";
import { taskInputFacts, taskOutputFacts, taskStopFacts } from "./facts.ts";

export type TaskOutputInput = { task_id: string; block?: boolean; timeout?: number; until?: string; filter?: string };
export type TaskStopInput = { task_id: string };

const taskId = { type: "string", minLength: 1, description: "The id of the task" };
const longestWaitMs = 600_000;

/** Only worth their words where something can be started that they are about. */
export function createTaskTools(): Tool[] {
  return [taskOutputTool, taskInputTool, taskStopTool];
}

/** A tool as it works under one of the names it is understood by. */
export function taskToolAs(name: string, tool: Tool): Tool {
  return name === "BashOutput" ? bashOutputTool : tool;
}

const taskOutputTool = defineTool<TaskOutputInput>({
  name: "TaskOutput",
  description:
    "Shows what a background task printed since you last looked, and how it is. Waits for its end unless told otherwise.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: taskId,
      block: { type: "boolean", description: "false: do not wait" },
      timeout: {
        type: "number",
        minimum: 0,
        maximum: longestWaitMs,
        description: "Milliseconds to wait at most; 30000 unless given",
      },
      until: {
        type: "string",
        description:
          "What to wait for: end (the default), output (anything new), or a regular expression that a new line matches",
      },
      filter: { type: "string", description: "A regular expression: only lines that match are shown" },
    },
    required: ["task_id"],
    additionalProperties: false,
  },
  forgives: forgives("taskOutput"),
  concurrent: true,
  facts: taskOutputFacts,
  access: async () => ({ kind: "note", resources: [] }),
  async execute(input, context) {
    const { showTaskOutput } = await import("../run-task-tools.ts");
    return await showTaskOutput(input, context, await backgroundOf(context));
  },
});

/** Models that call it by the name it had elsewhere expect what was printed so far, at once. */
const bashOutputTool = defineTool<TaskOutputInput>({
  ...taskOutputTool,
  facts: { ...taskOutputFacts, isOtherName: true },
  execute: async (input, context) => await taskOutputTool.execute({ block: false, ...input }, context),
});

export const taskInputTool: Tool = defineTool<TaskText>({
  name: "TaskInput",
  description: "Writes to the standard input of a background command.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: taskId,
      input: { type: "string", minLength: 1, description: "As it is: a line ends with a newline" },
    },
    required: ["task_id", "input"],
    additionalProperties: false,
  },
  forgives: forgives("taskInput"),
  concurrent: false,
  facts: taskInputFacts,
  async access(input, _workspace, memory = createToolMemory()) {
    const { taskInputsOf } = await import("../task-inputs.ts");
    return taskInputsOf(memory).accessFor(input);
  },
  async execute(input, context) {
    const { writeToTask } = await import("../run-task-tools.ts");
    return await writeToTask(input, context, await backgroundOf(context));
  },
});

const taskStopTool = defineTool<TaskStopInput>({
  name: "TaskStop",
  description: "Ends a background task, with every process it started.",
  inputSchema: { type: "object", properties: { task_id: taskId }, required: ["task_id"], additionalProperties: false },
  forgives: forgives("taskStop"),
  concurrent: true,
  facts: taskStopFacts,
  abortGraceMs: 3_000,
  access: async () => ({ kind: "note", resources: [] }),
  async execute({ task_id: id }, context) {
    const { stopTask } = await import("../run-task-tools.ts");
    return await stopTask(id, await backgroundOf(context));
  },
});

async function backgroundOf({ tasks }: ToolContext): Promise<BackgroundTasks> {
  if (!tasks?.background) throw new ToolFailure("There are no background tasks here.");
  return await tasks.background();
}
