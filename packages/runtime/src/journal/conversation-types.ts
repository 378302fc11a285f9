/** The events that make up a conversation; all others are about it. */
export const conversationTypes = [
  "task.started",
  "turn.started",
  "input.added",
  "message.ended",
  "tool.started",
  "tool.ended",
  "context.cleared",
  "parts.refused",
  "compaction.ended",
] as const;

export type ConversationType = (typeof conversationTypes)[number];
