import { forgives } from "../forgiven/later.ts";
import type { Tool, ToolMemory } from "../tool.ts";
import { defineTool } from "../tool.ts";
import { todoWriteFacts } from "./facts.ts";

export type TodoStatus = "pending" | "in_progress" | "completed";
/** `activeForm`: the same in the words of someone doing it ("Running tests"). */
export type Todo = { content: string; status: TodoStatus; activeForm?: string };

/** The session's list; read it at any time, only TodoWrite replaces what is in it. */
export function todoList(memory: ToolMemory): { todos: readonly Todo[] } {
  return memory.slot("todos", () => ({ todos: [] }));
}

export const todoWriteTool: Tool = defineTool<{ todos: Todo[] }>({
  name: "TodoWrite",
  description:
    "Keeps the task list of this session. Use it for work of three or more steps: write the list first, then send the whole list again whenever " +
    "something changes. Have one task in_progress at a time, and mark a task completed as soon as it is really done.",
  inputSchema: {
    type: "object",
    properties: {
      todos: {
        type: "array",
        description: "The whole list; it replaces the one before.",
        items: {
          type: "object",
          properties: {
            content: { type: "string", minLength: 1, description: "What is to be done." },
            status: { type: "string", enum: ["pending", "in_progress", "completed"], description: "How far it is." },
            activeForm: { type: "string", description: "The task while it is being done, for example: Running the tests." },
          },
          required: ["content", "status"],
          additionalProperties: false,
        },
      },
    },
    required: ["todos"],
    additionalProperties: false,
  },
  concurrent: false,
  forgives: forgives("todos"),
  facts: todoWriteFacts,
  async access() {
    return { kind: "note", resources: [] };
  },
  async execute({ todos }, { memory }) {
    const list = todoList(memory);
    const told = { oldTodos: [...list.todos], newTodos: todos };
    list.todos = todos;
    return { content: [{ type: "text", text: inShort(todos) }], details: { told } };
  },
});

const marks: Readonly<Record<TodoStatus, string>> = { pending: "[ ]", in_progress: "[>]", completed: "[x]" };

function inShort(todos: readonly Todo[]): string {
  if (todos.length === 0) return "The task list is empty now.";
  const done = todos.filter((todo) => todo.status === "completed").length;
  return [
    `Task list: ${done} of ${todos.length} completed.`,
    ...todos.map((todo) => `${marks[todo.status]} ${todo.content}`),
  ].join("\n");
}
