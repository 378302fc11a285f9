import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { createTodoTaskTools } from "../tools/builtin/todo-task-tools.ts";
import { todoWriteTool } from "../tools/builtin/todo-write.ts";
import { createMemoryTodoTasks, emptyTodoTasks, type TodoTaskList, type TodoTaskStore } from "../tools/todo-tasks.ts";
import type { Tool } from "../tools/tool.ts";
import { withFileLock } from "../util/file-lock.ts";
import { isRecord } from "../util/is-record.ts";
import { makeFolder } from "../util/make-folder.ts";
import { messageOf } from "../util/message-of.ts";
import { replaceFile } from "../util/replace-file.ts";
import { shortChecksum } from "../util/short-checksum.ts";

/** The options of a session that has such a list, in the place of the simpler one. Where only some tools are wanted, those of them. */
export function todoTaskOptions(
  { tools = [], disallowedTools = [], builtinTools: wanted }: Pick<SessionOptions, "tools" | "disallowedTools" | "builtinTools">,
  { said, ...place }: TodoTasksPlace & { readonly said: Readonly<Record<string, string | undefined>> },
): Pick<SessionOptions, "tools" | "disallowedTools"> {
  if (/^(?:0|false|no|off)$/i.test(said["CLAUDE_CODE_ENABLE_TASKS"]?.trim() ?? "")) return {};
  const listId = said["CLAUDE_CODE_TASK_LIST_ID"]?.trim() || undefined;
  const made = todoTaskTools({ ...place, listId }).filter(({ name }) => wanted === undefined || wanted.includes(name));
  return { tools: [...tools, ...made], disallowedTools: [...disallowedTools, todoWriteTool.name] };
}

export type TodoTasksPlace = {
  /** Undefined where nothing is to be kept. */
  readonly outriderHome: string | undefined;
  readonly sessionId: string;
};

/** Of a list that goes on with its session, or is shared by those that name it. */
function todoTaskTools({ outriderHome, sessionId, listId }: TodoTasksPlace & { readonly listId: string | undefined }): Tool[] {
  if (outriderHome === undefined) return createTodoTaskTools(createMemoryTodoTasks());
  const name = listId === undefined ? sessionId : `list-${shortChecksum(listId)}`;
  return createTodoTaskTools(createFileTodoTasks(join(outriderHome, "todo", `${name}.json`)));
}

function createFileTodoTasks(file: string): TodoTaskStore {
  return {
    read: async () => readList(file),
    async change(work) {
      try {
        makeFolder(dirname(file));
        return await withFileLock(`${file}.lock`, async () => {
          const { list, answer } = work(readList(file));
          await replaceFile(file, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
          return answer;
        });
      } catch (error) {
        throw new RuntimeError("storage-failed", `${file} cannot be written: ${messageOf(error)}`);
      }
    },
  };
}

/** A file that is none begins a new list. */
function readList(file: string): TodoTaskList {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isRecord(value) || typeof value["next"] !== "number" || !Array.isArray(value["tasks"])) return emptyTodoTasks;
    return { next: value["next"], tasks: value["tasks"] }; // we wrote it, in a folder of the user's
  } catch {
    return emptyTodoTasks;
  }
}
