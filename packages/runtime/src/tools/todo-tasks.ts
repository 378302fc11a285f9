import type { JsonObject, JsonValue } from "../protocol/content.ts";

export type TodoTaskStatus = "pending" | "in_progress" | "completed";

/** One entry of a list of what is to be done, as the tools of Claude Code keep it. */
export type TodoTask = {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  /** The same in the words of someone doing it. */
  readonly activeForm?: string | undefined;
  readonly status: TodoTaskStatus;
  readonly owner?: string | undefined;
  /** What waits for this one, and what this one waits for; by id. */
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  readonly metadata?: JsonObject | undefined;
};

/** `next` is the id of the next entry: that of a deleted one does not come again. */
export type TodoTaskList = { readonly next: number; readonly tasks: readonly TodoTask[] };

/** Where the list is kept. `change` has the list for itself until it is written. */
export interface TodoTaskStore {
  read(): Promise<TodoTaskList>;
  change<T>(work: (list: TodoTaskList) => { readonly list: TodoTaskList; readonly answer: T }): Promise<T>;
}

export const emptyTodoTasks: TodoTaskList = { next: 1, tasks: [] };

export type NewTodoTask = Pick<TodoTask, "subject" | "description" | "activeForm" | "metadata">;

export function withNewTask(list: TodoTaskList, wanted: NewTodoTask): { list: TodoTaskList; answer: TodoTask } {
  const { subject, description, activeForm, metadata } = wanted;
  const task: TodoTask = {
    ...{ id: String(list.next), subject, description, activeForm, metadata },
    ...{ status: "pending", blocks: [], blockedBy: [] },
  };
  return { list: { next: list.next + 1, tasks: [...list.tasks, task] }, answer: task };
}

export type TodoTaskUpdate = {
  readonly taskId: string;
  readonly subject?: string;
  readonly description?: string;
  readonly activeForm?: string;
  readonly status?: TodoTaskStatus | "deleted";
  readonly owner?: string;
  readonly metadata?: JsonObject;
  readonly addBlocks?: readonly string[];
  readonly addBlockedBy?: readonly string[];
};

export type UpdatedTask = {
  readonly updatedFields: readonly string[];
  readonly statusChange?: { readonly from: string; readonly to: string } | undefined;
};

/** Undefined as the answer where there is no such entry. */
export function withUpdate(
  list: TodoTaskList,
  { taskId: id, addBlocks = [], addBlockedBy = [], status, ...update }: TodoTaskUpdate,
): { list: TodoTaskList; answer: UpdatedTask | undefined } {
  const task = list.tasks.find((one) => one.id === id);
  if (!task) return { list, answer: undefined };
  const change = status === undefined || status === task.status ? undefined : { from: task.status, to: status };
  if (status === "deleted")
    return {
      list: without(list, id),
      answer: { updatedFields: ["deleted"], statusChange: { from: task.status, to: "deleted" } },
    };
  const isOther = (other: string): boolean => other !== id && list.tasks.some((one) => one.id === other);
  const [blocks, blockedBy] = [addBlocks, addBlockedBy].map((ids) => ids.filter(isOther)) as [string[], string[]]; // two in, two out
  const plain = Object.entries(update).filter(([key, value]) => !isSame(task[key as keyof TodoTask], value));
  const metadata = update.metadata && withoutNulls({ ...task.metadata, ...update.metadata });
  const tasks = list.tasks.map((one): TodoTask => {
    if (one.id === id)
      return {
        ...{
          ...one,
          ...Object.fromEntries(plain),
          ...(metadata && { metadata }),
          ...(change && { status: status ?? one.status }),
        },
        ...{ blocks: union(one.blocks, blocks), blockedBy: union(one.blockedBy, blockedBy) },
      };
    return {
      ...one,
      blocks: blockedBy.includes(one.id) ? union(one.blocks, [id]) : one.blocks,
      blockedBy: blocks.includes(one.id) ? union(one.blockedBy, [id]) : one.blockedBy,
    };
  });
  const updatedFields = [
    ...plain.map(([key]) => key),
    ...(change ? ["status"] : []),
    ...(blocks.length > 0 ? ["blocks"] : []),
    ...(blockedBy.length > 0 ? ["blockedBy"] : []),
  ];
  return { list: { ...list, tasks }, answer: { updatedFields, statusChange: change } };
}

/** Those that are not done yet and hold it up. */
export function openBlockers({ tasks }: TodoTaskList, { blockedBy }: TodoTask): string[] {
  return blockedBy.filter((id) => tasks.some((task) => task.id === id && task.status !== "completed"));
}

function without({ next, tasks }: TodoTaskList, id: string): TodoTaskList {
  const others = tasks.filter((task) => task.id !== id);
  const drop = (ids: readonly string[]): string[] => ids.filter((other) => other !== id);
  return { next, tasks: others.map((task) => ({ ...task, blocks: drop(task.blocks), blockedBy: drop(task.blockedBy) })) };
}

function union(before: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...before, ...more])];
}

/** A value of null takes the key away. */
function withoutNulls(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

function isSame(one: unknown, other: JsonValue | readonly string[] | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A list that lives as long as its session. */
export function createMemoryTodoTasks(): TodoTaskStore {
  let kept = emptyTodoTasks;
  return {
    read: async () => kept,
    async change(work) {
      const { list, answer } = work(kept);
      kept = list;
      return answer;
    },
  };
}
