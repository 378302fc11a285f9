import { type AssistantMessage, type Message, textOf, type ToolMessage, type UserMessage } from "../../protocol/content.ts";
import type { AgentEvent, AgentEvents, CompactionTrigger, DiffLine, SkillActivation } from "../../protocol/events.ts";
import { randomUuid } from "../../util/unique-ids.ts";

/** One line of what a person sees of a session: a message, or something that happened. */
export type HistoryEntry = { readonly id: string; readonly timestamp: Date } & (
  | { readonly category: "chat"; readonly type: "user"; readonly data: UserMessage & { displayInput?: string } }
  | { readonly category: "chat"; readonly type: "assistant"; readonly data: AssistantMessage }
  | { readonly category: "chat"; readonly type: "tool"; readonly data: ToolMessage }
  | { readonly category: "event"; readonly type: "tool-start" | "tool-end"; readonly data: ToolState }
  | { readonly category: "event"; readonly type: "tool-summary"; readonly data: { summary: string; tools: ToolState[] } }
  | { readonly category: "event"; readonly type: "usage-summary"; readonly data: UsageSnapshot }
  | { readonly category: "event"; readonly type: "compaction"; readonly data: CompactionReport }
  | { readonly category: "event"; readonly type: "skill-activation"; readonly data: SkillActivation }
  | { readonly category: "event"; readonly type: "prompt-file-reference"; readonly data: AgentEvents["references.read"] }
  | { readonly category: "event"; readonly type: "checkpoint-restored"; readonly data: AgentEvents["checkpoint.restored"] }
);

export type ToolState = {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The argument a person recognises the call by: the path, command, pattern, … */
  readonly firstArg: string;
  readonly isRunning: boolean;
  readonly result?: "success" | "error" | "denied";
  readonly diffFile?: string;
  readonly diffLines?: DiffLine[];
  readonly toolResultData?: string;
};

export type ContextState = {
  readonly usedTokens: number;
  readonly maxTokens: number;
  readonly usedPercentage: number;
  readonly remainingPercentage: number;
};

/** Older messages gave way to a summary. */
export type CompactionReport = {
  readonly trigger: CompactionTrigger;
  readonly preTokens: number;
  readonly postTokens: number;
  readonly durationMs: number;
  readonly summary: string;
};

export type UsageSnapshot = {
  readonly kind: "exact" | "estimated";
  readonly scope: "turn";
  readonly totalTokens: number;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly contextUsedTokens: number;
  readonly contextMaxTokens: number;
  readonly contextUsedPercentage: number;
  readonly costStatus: "unknown" | "estimated" | "exact";
};

export function isChatEntry(entry: HistoryEntry): entry is HistoryEntry & { category: "chat" } {
  return entry.category === "chat";
}

export function chatEntryToMessage(entry: HistoryEntry & { category: "chat" }): Message {
  if (entry.type !== "user") return entry.data;
  return { role: "user", content: entry.data.content };
}

/** A message as an entry of a history, such as one that a program keeps itself. */
export function messageToHistoryEntry(
  message: Message,
  { id = randomUuid(), timestamp = new Date() }: { readonly id?: string | undefined; readonly timestamp?: Date | undefined } = {},
): HistoryEntry & { category: "chat" } {
  const envelope = { id, timestamp, category: "chat" } as const;
  if (message.role === "user") return { ...envelope, type: "user", data: message };
  if (message.role === "assistant") return { ...envelope, type: "assistant", data: message };
  return { ...envelope, type: "tool", data: message };
}

/** The messages of a history, without what else happened. */
export function getMessagesForAPI(history: readonly HistoryEntry[]): Message[] {
  return history.filter(isChatEntry).map(chatEntryToMessage);
}

export function toContextState(usedTokens: number, maxTokens: number): ContextState {
  const usedPercentage = maxTokens > 0 ? Math.round((usedTokens / maxTokens) * 10_000) / 100 : 0;
  return {
    usedTokens,
    maxTokens,
    usedPercentage,
    remainingPercentage: Math.max(0, Math.round((100 - usedPercentage) * 100) / 100),
  };
}

export function startedTool(call: { callId: string; name: string; input: unknown }): ToolState {
  return { toolCallId: call.callId, toolName: call.name, firstArg: firstArgument(call.input), isRunning: true };
}

export function endedTool(event: AgentEvent<"tool.ended">, started: ToolState): ToolState {
  const result = event.status === "ok" ? "success" : event.status === "denied" ? "denied" : "error";
  return {
    ...started,
    isRunning: false,
    result,
    ...(event.details?.file !== undefined && { diffFile: event.details.file }),
    ...(event.details?.diff !== undefined && { diffLines: event.details.diff }),
    toolResultData: textOf(event.result.content),
  };
}

export function summarize(tools: readonly ToolState[]): string {
  const failed = tools.filter((tool) => tool.result !== "success").length;
  const names = [...new Set(tools.map((tool) => tool.toolName))].join(", ");
  return `${tools.length} tool call${tools.length === 1 ? "" : "s"} (${names})${failed > 0 ? `, ${failed} failed` : ""}`;
}

const telling = ["file_path", "path", "command", "pattern", "url", "query", "description"];

function firstArgument(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const record = input as Record<string, unknown>; // any object can be read by key
  const key = telling.find((name) => typeof record[name] === "string") ?? Object.keys(record)[0];
  const value = key === undefined ? "" : record[key];
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
