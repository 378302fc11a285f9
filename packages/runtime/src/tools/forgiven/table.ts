import type { Forgiveness } from "../meant-input.ts";
import { editForgiveness, notebookForgiveness, patchForgiveness, readForgiveness, writeForgiveness } from "./files.ts";
import { globForgiveness, grepForgiveness, webFetchForgiveness } from "./searches.ts";
import { bashForgiveness, taskForgiveness, todoForgiveness } from "./work.ts";

/** What other programs call a background task. */
const taskNames = { bash_id: "task_id", shell_id: "task_id", agentId: "task_id", id: "task_id" };

/** What the built-in tools do. */
export type ForgivingTool =
  | ("bash" | "edit" | "glob" | "grep" | "notebook" | "patch" | "read" | "task")
  | ("taskInput" | "taskOutput" | "taskStop" | "todos" | "webFetch" | "write");

/** How far each of them goes to understand an input. */
export const forgivenInputs: Readonly<Record<ForgivingTool, Forgiveness>> = {
  bash: bashForgiveness,
  edit: editForgiveness,
  glob: globForgiveness,
  grep: grepForgiveness,
  notebook: notebookForgiveness,
  patch: patchForgiveness,
  read: readForgiveness,
  task: taskForgiveness,
  taskInput: { names: { ...taskNames, chars: "input", text: "input" }, needed: [] },
  taskOutput: { names: { ...taskNames, wait_up_to: "timeout", yield_time_ms: "timeout" }, needed: [] },
  taskStop: { names: taskNames, needed: [] },
  todos: todoForgiveness,
  webFetch: webFetchForgiveness,
  write: writeForgiveness,
};
