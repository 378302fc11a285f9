import type { AgentEvent } from "../../protocol/events.ts";
import type { ClaudeLines, Frame } from "./claude-frame.ts";
import { eventUuid } from "./frame-uuid.ts";
import { ownContent, ownText } from "../../protocol/own-content.ts";
import type { RunTotals } from "./run-totals.ts";
import { toResultBlock, toToolUseResult } from "../../tools/tool-use-result.ts";

/** One frame per tool result, in the order in which they come. */
export function toolResultLine(event: AgentEvent<"tool.ended">, run: RunTotals, lines: ClaudeLines): string {
  const isOfAgent = event.taskId === undefined && event.status === "ok" && event.details?.skill === undefined; // a skill tells of itself
  const task = isOfAgent ? run.tasks.resultOf(event.callId) : undefined;
  const place = { input: run.inputOf(event), cwd: run.facts?.cwd ?? "/" };
  return lines.line("user", {
    uuid: eventUuid(lines.sessionId, event.seq),
    message: { role: "user", content: [toToolResult(event, task !== undefined)] },
    ...run.tasks.marksOf(event),
    timestamp: event.at,
    tool_use_result: event.details?.told === undefined && task ? task : toToolUseResult(event, place),
    ...metaOf(event, run),
  });
}

/** What joined the conversation without anybody having said it. */
export function addedInputLine(event: AgentEvent<"input.added">, run: RunTotals, lines: ClaudeLines): string {
  if (event.origin === "user" || event.origin === "file") return ""; // its author knows it
  if (!run.answered && event.taskId === undefined) return ""; // what hooks add to a prompt is a part of it
  const content = event.input.content.map((part) => toResultBlock(part));
  return lines.line("user", {
    message: { role: "user", content },
    ...run.tasks.marksOf(event),
    timestamp: event.at,
    isSynthetic: true,
  });
}

/** The words that hosts look for to tell an interrupted turn. */
export function interruptLine(during: "streaming" | "tools", at: string, lines: ClaudeLines): string {
  const text = during === "tools" ? "[Request interrupted by user for tool use]" : "[Request interrupted by user]";
  return lines.line("user", {
    message: { role: "user", content: [{ type: "text", text }] },
    parent_tool_use_id: null,
    timestamp: at,
  });
}

/** What a subagent answers is in blocks, and what a server does, but for its errors and for values for programs; what other tools say is text. */
function toToolResult(event: AgentEvent<"tool.ended">, isOfTask: boolean): Frame {
  const { result, details } = event;
  const content = ownContent(event);
  const isServers = result.name.startsWith("mcp__") && !result.isError && details?.structuredContent === undefined;
  const plain = !isOfTask && !isServers && content.every((part) => part.type === "text");
  return {
    type: "tool_result",
    tool_use_id: result.callId,
    content: plain ? ownText(event) : content.map(toResultBlock),
    is_error: result.isError,
  };
}

function metaOf(event: AgentEvent<"tool.ended">, run: RunTotals): Frame {
  if (event.status === "interrupted") return { tool_result_meta: [{ id: event.callId, non_execution_kind: "user-rejected" }] };
  const decided = run.decisionOn(event);
  if (!decided) return {};
  const { effect, by } = decided;
  return {
    tool_result_meta: [
      {
        id: event.callId,
        ...(effect === "deny" && { non_execution_kind: kindOf(decided, run) }),
        permission_decision: { decision: effect === "allow" ? "accept" : "reject", source: sourceOf(decided), reason_type: by },
      },
    ],
  };
}

/** In Claude Code's words: `user-rejected` is a no that ends the turn, and a question that nobody was there to answer. */
function kindOf({ by, endsTurn }: AgentEvent<"permission.decided">, run: RunTotals): string {
  if (endsTurn) return "user-rejected";
  const isDecided = ["rule", "hook", "user"].includes(by) || run.facts?.permissionMode === "dontAsk";
  return isDecided ? "permission-rule" : "user-rejected";
}

function sourceOf({ effect, by }: AgentEvent<"permission.decided">): string {
  if (by === "hook") return "hook";
  if (by !== "user") return "config";
  return effect === "allow" ? "user_temporary" : "user_reject";
}
