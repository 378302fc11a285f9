import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import type { ExecutionWorkspaceEntry } from "../../tasks/background/execution-entries.ts";
import { summarizeBackgroundJobGroup } from "../../tasks/background/group-summary.ts";
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from "../../tasks/background/task-contract.ts";
import { type HistoryEntry, isChatEntry } from "../past/history.ts";
import { chatWords } from "./execution-source.ts";

/** What is to be seen of one entry, one thing after another. */
export type ExecutionWorkspaceRecord = {
  readonly kind: "message" | "tool_activity" | "process_output" | "progress" | "result" | "error" | "group_summary";
  readonly text: string;
  readonly at?: string;
};

export type ExecutionWorkspaceDetail = {
  readonly entry: ExecutionWorkspaceEntry;
  readonly records: readonly ExecutionWorkspaceRecord[];
  /** Where the next page begins; absent when there is nothing more, and nothing can come. */
  readonly nextCursor?: BackgroundTaskLogCursor;
};

export type DetailGround = {
  readonly history: () => readonly HistoryEntry[];
  readonly task: (taskId: string) => BackgroundTaskState | undefined;
  readonly group: (groupId: string) => BackgroundJobGroupState | undefined;
  readonly readLog: (taskId: string, cursor?: BackgroundTaskLogCursor) => Promise<BackgroundTaskLogPage>;
};

const recordsPerPage = 80;

/** At most 80 records of an entry, from a place on. */
export async function readDetail(
  entry: ExecutionWorkspaceEntry,
  cursor: BackgroundTaskLogCursor,
  ground: DetailGround,
): Promise<ExecutionWorkspaceDetail> {
  switch (entry.kind) {
    case "main_thread":
      return toPage(entry, ground.history().map(toRecord), { cursor, isOpen: true });
    case "background_group":
      return toPage(entry, summaryOf(ground.group(entry.sourceId)), { cursor, isOpen: false });
    case "background_task":
      return await toTaskPage(entry, cursor, ground);
  }
}

function summaryOf(group: BackgroundJobGroupState | undefined): ExecutionWorkspaceRecord[] {
  return (group ? summarizeBackgroundJobGroup(group).lines : []).map((text) => ({ kind: "group_summary", text }));
}

/** Its log, and behind the last line how it ended. */
async function toTaskPage(
  entry: ExecutionWorkspaceEntry,
  { offset }: BackgroundTaskLogCursor,
  { readLog, task }: DetailGround,
): Promise<ExecutionWorkspaceDetail> {
  const { lines, nextCursor } = await readLog(entry.sourceId, { offset });
  const kind = entry.taskKind === "process" ? "process_output" : "progress";
  const records = lines.slice(0, recordsPerPage).map((text): ExecutionWorkspaceRecord => ({ kind, text }));
  if (lines.length > recordsPerPage) return { entry, records, nextCursor: { offset: offset + recordsPerPage } };
  if (nextCursor) return { entry, records, nextCursor };
  const known = task(entry.sourceId);
  return { entry, records: [...records, ...(known ? endOf(known) : [])] };
}

function endOf({ error, result, currentAction, completedAt }: BackgroundTaskState): ExecutionWorkspaceRecord[] {
  const at = completedAt === undefined ? {} : { at: completedAt };
  if (error) return [{ kind: "error", text: error.message, ...at }];
  if (result) return [{ kind: "result", text: result.output, ...at }];
  return currentAction === undefined ? [] : [{ kind: "progress", text: currentAction }];
}

function toPage(
  entry: ExecutionWorkspaceEntry,
  all: readonly ExecutionWorkspaceRecord[],
  { cursor: { offset }, isOpen }: { readonly cursor: BackgroundTaskLogCursor; readonly isOpen: boolean },
): ExecutionWorkspaceDetail {
  const records = all.slice(offset, offset + recordsPerPage);
  const next = offset + records.length;
  return { entry, records, ...((isOpen || next < all.length) && { nextCursor: { offset: next } }) };
}

function toRecord(entry: HistoryEntry): ExecutionWorkspaceRecord {
  const kind = isChatEntry(entry) ? "message" : "tool_activity";
  return { kind, text: wordsOf(entry), at: entry.timestamp.toISOString() };
}

function wordsOf(entry: HistoryEntry): string {
  if (isChatEntry(entry)) return chatWords(entry);
  if (entry.type === "tool-start" || entry.type === "tool-end") return `${entry.data.toolName} ${entry.data.firstArg}`.trim();
  return entry.type === "tool-summary" ? entry.data.summary : entry.type;
}
