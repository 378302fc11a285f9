import { textOf } from "../../protocol/content.ts";
import type { ExecutionWorkspaceSource } from "../../tasks/background/execution-entries.ts";
import { type HistoryEntry, isChatEntry } from "../past/history.ts";

export type ConversationFacts = Pick<ExecutionWorkspaceSource, "sessionId" | "title" | "isActive"> & {
  readonly history: readonly HistoryEntry[];
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** The conversation, for a list of what goes on in its session. */
export function conversationOf({
  history,
  now,
  ...facts
}: ConversationFacts): Omit<ExecutionWorkspaceSource, "tasks" | "groups"> {
  const last = history.findLast(isChatEntry);
  return { ...facts, preview: last && chatWords(last), updatedAt: (last?.timestamp ?? new Date(now)).toISOString() };
}

/** What is shown of a message. */
export function chatWords(entry: HistoryEntry & { category: "chat" }): string {
  return (entry.type === "user" && entry.data.displayInput) || textOf(entry.data.content);
}
