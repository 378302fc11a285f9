import type { JsonObject } from "../../protocol/content.ts";
import type { ToolFacts } from "../../protocol/tool-facts.ts";
import {
  type NewTodoTask,
  openBlockers,
  type TodoTask,
  type TodoTaskStore,
  type TodoTaskUpdate,
  withNewTask,
  withUpdate,
} from "../todo-tasks.ts";
import { defineTool, type Tool, ToolFailure, type ToolOutput } from "../tool.ts";

const facts: ToolFacts = { kind: "note" };
const access = async (): Promise<{ kind: "note"; resources: string[] }> => ({ kind: "note", resources: [] });

const text = (description: string) => ({ type: "string", minLength: 1, description });
const ids = (description: string) => ({ type: "array", items: { type: "string" }, description });
const taskId = text("The id of the task");
const metadata = { type: "object", description: "Whatever else belongs to it", additionalProperties: true };

/** The task list in the form Claude Code has now: entries with ids, which wait for each other. */
export function createTodoTaskTools(store: TodoTaskStore): Tool[] {
  return [createTool(store), getTool(store), updateTool(store), listTool(store)];
}

function createTool(store: TodoTaskStore): Tool {
  return defineTool<NewTodoTask>({
    name: "TaskCreate",
    description:
      "Adds a task to the list of what is to be done in this session. Use it for work of three or more steps, before you begin with them.",
    inputSchema: {
      type: "object",
      properties: {
        subject: text("What is to be done, in a few words"),
        description: { type: "string", description: "What belongs to it, and when it is done" },
        activeForm: { type: "string", description: "The task while it is being done, for example: Running the tests" },
        metadata,
      },
      required: ["subject", "description"],
      additionalProperties: false,
    },
    concurrent: false,
    forgives: { needed: [] },
    ...{ facts, access },
    async execute(wanted, { listHooks }) {
      const { id, subject, description } = await store.change((list) => withNewTask(list, wanted));
      const objection = await listHooks?.("TaskCreated", { id, subject, description });
      if (objection !== undefined) {
        await store.change((list) => withUpdate(list, { taskId: id, status: "deleted" }));
        throw new ToolFailure(`Task #${id} was not created, a hook objects: ${objection}`);
      }
      return answer(`Task #${id} created successfully: ${subject}`, { task: { id, subject, description } });
    },
  });
}

function getTool(store: TodoTaskStore): Tool {
  return defineTool<{ taskId: string }>({
    name: "TaskGet",
    description: "Shows one task of the list with all that is known of it.",
    inputSchema: { type: "object", properties: { taskId }, required: ["taskId"], additionalProperties: false },
    concurrent: true,
    forgives: { needed: [] },
    ...{ facts, access },
    async execute({ taskId: wanted }) {
      const task = (await store.read()).tasks.find(({ id }) => id === bare(wanted));
      if (!task) return answer("Task not found", { task: null });
      const { id, subject, description, status, blocks, blockedBy } = task;
      const lines = [
        `Task #${id}: ${subject}`,
        `Status: ${status}`,
        `Description: ${description}`,
        ...(blockedBy.length > 0 ? [`Blocked by: ${named(blockedBy)}`] : []),
        ...(blocks.length > 0 ? [`Blocks: ${named(blocks)}`] : []),
      ];
      return answer(lines.join("\n"), {
        task: { id, subject, description, status, blocks: [...blocks], blockedBy: [...blockedBy] },
      });
    },
  });
}

function updateTool(store: TodoTaskStore): Tool {
  return defineTool<TodoTaskUpdate>({
    name: "TaskUpdate",
    description:
      "Changes a task of the list. Set it to in_progress when you begin with it and to completed as soon as it is really done; deleted takes it " +
      "off the list.",
    inputSchema: {
      type: "object",
      properties: {
        taskId,
        subject: text("Another subject"),
        description: { type: "string", description: "Another description" },
        activeForm: { type: "string", description: "Another form for while it is being done" },
        status: { type: "string", enum: ["pending", "in_progress", "completed", "deleted"], description: "How far it is" },
        addBlocks: ids("Tasks that cannot begin before this one is done"),
        addBlockedBy: ids("Tasks that must be done before this one can begin"),
        owner: { type: "string", description: "Who does it" },
        metadata: { ...metadata, description: "Keys to set; null takes one away" },
      },
      required: ["taskId"],
      additionalProperties: false,
    },
    concurrent: false,
    forgives: { needed: [] },
    ...{ facts, access },
    async execute({ addBlocks = [], addBlockedBy = [], ...update }, { listHooks }) {
      const id = bare(update.taskId);
      const before = (await store.read()).tasks.find((task) => task.id === id);
      const isDone = update.status === "completed" && before?.status !== "completed";
      const objection = before && isDone ? await listHooks?.("TaskCompleted", before) : undefined;
      if (objection !== undefined) {
        const error = `A hook objects: ${objection}`;
        return answer(`Task #${id} is not completed. ${error}`, { success: false, taskId: id, updatedFields: [], error });
      }
      const wanted = { ...update, taskId: id, addBlocks: addBlocks.map(bare), addBlockedBy: addBlockedBy.map(bare) };
      const updated = await store.change((list) => withUpdate(list, wanted));
      if (!updated) return answer("Task not found", { success: false, taskId: id, updatedFields: [], error: "Task not found" });
      const { updatedFields, statusChange } = updated;
      const said =
        updatedFields.length === 0 ? `Task #${id} is like that already` : `Updated task #${id} ${updatedFields.join(", ")}`;
      return answer(said, {
        ...{ success: true, taskId: id, updatedFields: [...updatedFields] },
        ...(statusChange && { statusChange: { ...statusChange } }),
      });
    },
  });
}

function listTool(store: TodoTaskStore): Tool {
  return defineTool<Record<string, never>>({
    name: "TaskList",
    description: "Shows the list of what is to be done, with how far each task is and what holds it up.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    concurrent: true,
    forgives: { needed: [] },
    ...{ facts, access },
    async execute() {
      const list = await store.read();
      const rows = list.tasks.map((task) => ({ ...task, blockedBy: openBlockers(list, task) }));
      const tasks = rows.map(({ id, subject, status, owner, blockedBy }) => ({
        ...{ id, subject, status, blockedBy },
        ...(owner !== undefined && { owner }),
      }));
      return answer(rows.map(inShort).join("\n") || "No tasks found", { tasks });
    },
  });
}

function inShort({ id, status, subject, owner, blockedBy }: TodoTask): string {
  const by = blockedBy.length === 0 ? "" : ` [blocked by ${named(blockedBy)}]`;
  return `#${id} [${status}] ${subject}${owner === undefined ? "" : ` (${owner})`}${by}`;
}

function named(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(", ");
}

/** `#2` is meant as 2. */
function bare(id: string): string {
  return id.trim().replace(/^#/, "");
}

function answer(words: string, structuredContent: JsonObject): ToolOutput {
  return { content: [{ type: "text", text: words }], details: { structuredContent } };
}
